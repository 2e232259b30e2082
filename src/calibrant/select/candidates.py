"""Calibrators by name, one table for each kind of forecasts, and those that compete where none are named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from typing import Any

from sklearn.base import clone

from .. import classification as c
from .. import regression as r
from .._checks import one_of
from ..adapters.class_scores import ClassScores
from ..calibration import GroupedCalibrator, OnlineCalibrator
from ..calibration.contract import Takes, check_calibrator, takes_of
from ..distributions import Distribution
from .comparison import NONE
from .none import NoCalibrator

BY_GROUP = " by group"
QUICK = "quick"
AUTO = "auto"
ONLINE = "online"
_ONE_A_GROUP, _UNKNOWN = 10, 1000  # ranks


@dataclass(frozen=True)
class Method:
    """A calibrator that can be asked for by name.

    Attributes
    ----------
    make : callable
        Gives a fresh one.
    competes : bool
        Whether it is tried where no candidates are named.
    quick : bool
        Whether it is so quick that one a group is tried too.
    of_margins : bool
        Whether it takes margins of classes, which are no probabilities.
    classes : int
        The least number of classes that it is made for.
    rank : int
        How much it can bend: among candidates that are equally good the one of least rank is taken. An average bends
        no more than what it is made of.
    module : str, optional
        What must be installed for it to compete, or to see features.
    asks : bool
        Whether it sees features if it is made with ``features=True``.
    shrinks : bool
        Whether it holds itself back, so that with its defaults it costs next to nothing where nothing is wrong.
    costly : bool
        Whether it takes so long that it leaves a trial once it has fallen behind.
    follows : bool
        Whether it goes on learning in time, and so competes where rows have times.
    """

    make: Callable[..., Any]
    competes: bool = False
    quick: bool = False
    of_margins: bool = True
    classes: int = 2
    rank: int = 1
    module: str | None = None
    asks: bool = False
    shrinks: bool = False
    costly: bool = False
    follows: bool = False

    @property
    def takes(self) -> Takes:
        """What it takes, with its defaults."""
        return takes_of(self.make())

    @property
    def sees(self) -> bool:
        """Whether it can use features."""
        return self.asks or "X" in self.takes.beside

    def made(self, *, features: bool = False) -> Any:
        """It, with its defaults; where there are features, so that it uses them if it can."""
        return self.make(features=True) if features and self.asks and is_installed(self) else self.make()


METHODS: dict[str, dict[str, Method]] = {
    "distributions": {
        "quantile": Method(r.QuantileCalibrator, True, True, rank=2, shrinks=True),
        "scale": Method(r.ScaleCalibrator, True, True),
        "density": Method(r.DensityCalibrator, True, rank=4),
        "gp-beta": Method(r.GPBetaCalibrator, True, rank=4, costly=True),
        "gpc": Method(r.GPCCalibrator, rank=4, costly=True),
        "flow": Method(r.FlowCalibrator, rank=3),
        "stack": Method(r.StackCalibrator, True, rank=4, module="lightgbm", asks=True, costly=True),
        "boosted": Method(r.BoostedCalibrator, True, rank=5, module="lightgbm", costly=True),
        "conformal": Method(r.ConformalCalibrator, rank=3),
        ONLINE: Method(OnlineCalibrator, rank=6, costly=True, follows=True),
    },
    "points": {
        "residual": Method(r.ResidualCalibrator, True, True),
        "point": Method(r.PointCalibrator),
        "conformal": Method(r.ConformalCalibrator),
    },
    "scores": {
        "temperature": Method(c.TemperatureCalibrator, True, True, of_margins=False),
        "platt": Method(c.PlattCalibrator, True, True, rank=2),
        "beta": Method(c.BetaCalibrator, True, True, of_margins=False, rank=3),
        "vector": Method(c.VectorCalibrator, True, of_margins=False, classes=3, rank=4),
        "dirichlet": Method(c.DirichletCalibrator, True, of_margins=False, classes=3, rank=5),
        "smooth-isotonic": Method(c.SmoothIsotonicCalibrator, True, rank=6),
        "isotonic": Method(c.IsotonicCalibrator, True, rank=6),
        "venn-abers": Method(c.VennAbersCalibrator, True, rank=7),
        "boosted": Method(c.BoostedClassCalibrator, True, of_margins=False, rank=8, module="lightgbm"),
        "binning": Method(c.BinningCalibrator, rank=6),
        "bayesian-binning": Method(c.BayesianBinningCalibrator, rank=6),
        "beta-densities": Method(c.BetaDensitiesCalibrator, of_margins=False, rank=3),
        "kernel-densities": Method(c.KernelDensitiesCalibrator, rank=7),
        "pairwise": Method(c.PairwiseCalibrator, classes=3, rank=4),
        "ecoc": Method(c.ECOCCalibrator, of_margins=False, classes=3, rank=4),
        ONLINE: Method(partial(OnlineCalibrator, kind="probabilities"), of_margins=False, rank=9, follows=True),
    },
}
"""By kind of forecasts, then by name."""


def kind_of(forecasts: Any) -> str:
    """Which table is for such forecasts."""
    if isinstance(forecasts, ClassScores):
        return "scores"
    return "distributions" if isinstance(forecasts, Distribution) else "points"


def default_candidates(
    forecasts: Any, *, grouped: bool = False, quick: bool = False, features: bool = False, ordered: bool = False
) -> dict[str, Any]:
    """Every sensible calibrator for such forecasts, or the quick ones; with groups these also one a group.

    Those that need features compete only where there are some, those that go on learning where rows are ordered in
    time.
    """
    found: dict[str, Any] = {}
    for name, each in METHODS[kind_of(forecasts)].items():
        competes = each.competes or (each.follows and ordered)
        if not competes or not _suits(each, forecasts) or (quick and not each.quick):
            continue
        if "X" in each.takes.needs and not (features and is_installed(each)):
            continue
        found[name] = each.made(features=features)
        if grouped and each.quick:
            found[name + BY_GROUP] = grouped_of(each.make())
    return found


def is_installed(each: Method) -> bool:
    """Whether what a method needs is there."""
    return each.module is None or find_spec(each.module) is not None


def see_features(candidates: Mapping[str, Any]) -> bool:
    """Whether any of the candidates takes features."""
    return any("X" in takes_of(item).beside for item in candidates.values())


def refuse_unseen(X: Any, candidates: Mapping[str, Any]) -> None:
    """Raise ValueError if features were given and none of the candidates takes them."""
    if X is not None and not see_features(candidates):
        remedy = "Use Boosted(Class)Calibrator (pip install 'calibrant[boost]'), or leave X out."
        raise ValueError(f"`X` was given, but none of the candidates takes features. {remedy}")


def _suits(each: Method, forecasts: Any) -> bool:
    if not isinstance(forecasts, ClassScores):
        return True
    return (each.of_margins or forecasts.kind != "margins") and forecasts.n_classes >= each.classes


def named(
    candidates: Any, forecasts: Any, *, grouped: bool = False, features: bool = False, ordered: bool = False
) -> dict[str, Any]:
    """Candidates by name, "none" first where forecasts are usable as they are; "quick" are the quick ones.

    Where none are named, those that need features compete if there are some, and those that go on learning if rows are
    ordered in time. With groups each that is named competes
    with one a group, "quantile" with "quantile by group", say.
    """
    if candidates is None or isinstance(candidates, str):
        if candidates is not None:
            one_of(candidates, "candidates", (QUICK,))
        facts = {"grouped": grouped, "features": features, "ordered": ordered}
        chosen = default_candidates(forecasts, quick=candidates is not None, **facts)
    else:
        chosen = _given(candidates, kind_of(forecasts), features=features)
        if grouped:
            chosen = {name: item for pair in chosen.items() for name, item in _with_groups(*pair)}
    usable = {NONE: NoCalibrator()} if _usable(forecasts) else {}
    return usable | {name: clone(item) for name, item in chosen.items()}


def _given(candidates: Any, kind: str, *, features: bool) -> dict[str, Any]:
    """Checked calibrators by name; texts are names of methods, and stay the names of what they stand for."""
    if isinstance(candidates, Mapping):
        chosen = {str(name): _made(item, f"candidates[{name!r}]", kind, features) for name, item in candidates.items()}
    else:
        items = [_made(item, f"candidates[{i}]", kind, features) for i, item in enumerate(candidates)]
        kinds = [
            given.lower() if isinstance(given, str) else type(item).__name__
            for given, item in zip(candidates, items, strict=True)
        ]
        names = [kind if kinds.count(kind) == 1 else repr(item) for kind, item in zip(kinds, items, strict=True)]
        if len(set(names)) < len(names):
            raise ValueError(f"`candidates` must differ; got {', '.join(names)}. Give them names in a dict.")
        chosen = dict(zip(names, items, strict=True))
    if not chosen:
        raise ValueError("`candidates` must name at least one calibrator; it is empty.")
    if NONE in chosen:
        raise ValueError('`candidates` must not be called "none", which is for the forecasts as they are.')
    return chosen


def _made(item: Any, where: str, kind: str, features: bool) -> Any:
    """A checked calibrator, or the one of a name for forecasts of a kind."""
    if not isinstance(item, str):
        return check_calibrator(item, where)
    if item.lower() not in METHODS[kind]:
        raise ValueError(f"`{where}`: {unknown_method(item, METHODS[kind], kind)}")
    return METHODS[kind][item.lower()].made(features=features)


def unknown_method(name: str, offered: Iterable[str], what: str) -> str:
    """What is wrong with a name that is none of those offered.

    >>> unknown_method("quantil", ["scale", "quantile"], "distributions")
    "method 'quantil' is not known, 'quantile' perhaps; these are: scale, quantile."
    """
    offered = list(offered)
    exists = name.lower() in {AUTO, *(each for table in METHODS.values() for each in table)}
    close = get_close_matches(name.lower(), offered, 1)
    text = f"is not for {what}" if exists else "is not known"
    text += f", {close[0]!r} perhaps" if close and not exists else ""
    return f"method {name!r} {text}; these are: {', '.join(offered)}."


def takes_features(item: Any) -> bool:
    """Whether a calibrator, or one of a name, takes features; what is neither does not."""
    if isinstance(item, str):
        return any("X" in table[item.lower()].takes.beside for table in METHODS.values() if item.lower() in table)
    return hasattr(item, "fit") and hasattr(item, "transform") and "X" in takes_of(item).beside


def ranks_of(names: Iterable[str], candidates: Mapping[str, Any]) -> tuple[int, ...]:
    """How simple candidates are, by their kind; one a group is less so, and of kinds without a name nothing is known.

    >>> ranks_of(["none", "b", "a"], {"none": NoCalibrator(), "a": r.ScaleCalibrator(), "b": r.QuantileCalibrator()})
    (0, 2, 1)
    """
    known = {each.make: each.rank for table in METHODS.values() for each in table.values()}

    def rank(item: Any) -> int:
        if isinstance(item, NoCalibrator):
            return 0
        if isinstance(item, GroupedCalibrator):
            return _ONE_A_GROUP + rank(item.calibrator)
        if hasattr(item, "by_groups") and "groups" in takes_of(item).needs:
            return _ONE_A_GROUP + known.get(type(item), _UNKNOWN)
        return known.get(type(item), _UNKNOWN)

    return tuple(rank(candidates[name]) for name in names)


def costly_among(candidates: Mapping[str, Any]) -> list[str]:
    """Names of those that take long, by their kind; of kinds without a name nothing is known.

    >>> costly_among({"a": r.ScaleCalibrator(), "b": r.StackCalibrator(), "c": GroupedCalibrator(r.StackCalibrator())})
    ['b', 'c']
    """
    known = {each.make for table in METHODS.values() for each in table.values() if each.costly}

    def costly(item: Any) -> bool:
        return costly(item.calibrator) if isinstance(item, GroupedCalibrator) else type(item) in known

    return [name for name, item in candidates.items() if costly(item)]


def shrinking_among(candidates: Mapping[str, Any]) -> list[str]:
    """Names of those that hold themselves back, with their defaults.

    >>> shrinking_among({"a": r.ScaleCalibrator(), "b": r.QuantileCalibrator(), "c": r.QuantileCalibrator("ecdf")})
    ['b']
    """
    known = [each.make() for table in METHODS.values() for each in table.values() if each.shrinks]
    usual = {(type(each), repr(each)) for each in known}
    return [name for name, item in candidates.items() if (type(item), repr(item)) in usual]


def _with_groups(name: str, item: Any) -> list[tuple[str, Any]]:
    if "groups" in takes_of(item).beside:
        return [(name, item)]
    return [(name, item), (name + BY_GROUP, grouped_of(item))]


def grouped_of(calibrator: Any) -> Any:
    """One a group: as the calibrator itself sees to it, or by `GroupedCalibrator`."""
    return calibrator.by_groups() if hasattr(calibrator, "by_groups") else GroupedCalibrator(calibrator)


def _usable(forecasts: Any) -> bool:
    """Whether forecasts are probabilities or distributions as they are: margins and points are not."""
    kind = kind_of(forecasts)
    return kind == "distributions" or (kind == "scores" and forecasts.kind != "margins")


def scores_kind(candidates: Any, scores_are: str = "probabilities") -> str:
    """What plain class scores are: as said, or else as all candidates say that have something to say."""
    if scores_are != "probabilities" or candidates is None:
        return scores_are
    items = candidates.values() if isinstance(candidates, Mapping) else candidates
    kinds = {item.scores_are for item in items if hasattr(item, "scores_are")}
    return kinds.pop() if len(kinds) == 1 else scores_are


def task_of(candidates: Any) -> str:
    """The task that the candidates are for, as far as they tell."""
    if not isinstance(candidates, (Mapping, list, tuple, type(None))):
        kind = type(candidates).__name__
        raise TypeError(
            f"`candidates` must be calibrators, by name or in a list; got {kind}. Arguments in another order?"
        )
    items = list(candidates.values()) if isinstance(candidates, Mapping) else list(candidates or [])
    kinds = [takes_of(item).forecasts for item in items if hasattr(item, "fit") and hasattr(item, "transform")]
    tables = [[kind for kind in METHODS if item.lower() in METHODS[kind]] for item in items if isinstance(item, str)]
    kinds += [("scores",) for table in tables if table == ["scores"]]
    return "classification" if any(kind == ("scores",) for kind in kinds) else "auto"
