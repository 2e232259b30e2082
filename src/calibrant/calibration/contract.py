"""What a calibrator works on, declared by itself, and calling it with just that."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any, TypedDict

from ..adapters.class_scores import ClassScores
from ..adapters.nested import takes

KINDS = ("distributions", "points", "scores")


class Beside(TypedDict, total=False):
    """What may be given beside forecasts and outcomes, an entry or a row for each of them; classes one a column."""

    groups: Any
    classes: Any
    X: Any
    time: Any
    horizon: Any


BESIDE = tuple(Beside.__annotations__)


@dataclass(frozen=True)
class Takes:
    """What a calibrator takes.

    Attributes
    ----------
    forecasts : tuple of str
        Kinds of forecasts: "distributions", "points", "scores" (of classes).
    beside : frozenset of str
        What `fit` and `transform` can use beside forecasts and outcomes: "groups", "X", "time", "horizon"; and
        "classes", the labels of the columns of scores, in `fit` only.
    needs : frozenset of str
        Those of them that it cannot do without.

    Examples
    --------
    >>> from calibrant import GroupedCalibrator, PlattCalibrator
    >>> taken = GroupedCalibrator(PlattCalibrator()).takes
    >>> taken.forecasts, sorted(taken.beside), sorted(taken.needs)
    (('scores',), ['classes', 'groups'], ['groups'])
    """

    forecasts: tuple[str, ...] = ("distributions",)
    beside: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()

    def also(self, *beside: str, needs: bool = False) -> Takes:
        """The same and more."""
        return Takes(self.forecasts, self.beside.union(beside), self.needs.union(beside if needs else ()))

    def only(self, given: dict[str, Any]) -> dict[str, Any]:
        """Those of the given arguments that it can use."""
        return {name: value for name, value in given.items() if value is not None and name in self.beside}


def takes_of(calibrator: Any) -> Takes:
    """What a calibrator declares; of one that declares nothing, another library's say, the signatures tell."""
    declared = getattr(calibrator, "takes", None)
    if isinstance(declared, Takes):
        return declared
    fit, transform = calibrator.fit, calibrator.transform
    beside = {name for name in BESIDE if takes(fit, name) and (name == "classes" or takes(transform, name))}
    beside -= {next(iter(signature(fit).parameters), "")}  # scikit-learn calls what comes first X
    return Takes(KINDS, frozenset(beside), frozenset(beside & {"groups"}))


def fit_with(calibrator: Any, forecasts: Any, y: Any, *, sample_weight: Any = None, **beside: Any) -> Any:
    """Fit a calibrator with what it takes of what comes beside; what is None is not given."""
    return calibrator.fit(forecasts, y, sample_weight=sample_weight, **takes_of(calibrator).only(beside))


def transform_with(calibrator: Any, forecasts: Any, **beside: Any) -> Any:
    """Calibrated forecasts, made with what the calibrator takes of what comes beside."""
    given = takes_of(calibrator).only(beside)
    given.pop("classes", None)
    return calibrator.transform(forecasts, **given)


def refuse_features(X: Any, calibrator: Any, who: str) -> None:
    """Raise ValueError if features were given and nobody takes them."""
    if X is not None and "X" not in takes_of(calibrator).beside:
        raise ValueError(
            f"`X` was given, but {who} takes no features. Use BoostedCalibrator or "
            "BoostedClassCalibrator, or leave X out."
        )


def as_forecasts(made: Any, classes: Any = None) -> Any:
    """What a calibrator made, as the next one takes it: probabilities of classes with their labels."""
    return made if classes is None else ClassScores(made, "probabilities", classes)


def check_calibrator(calibrator: Any, name: str = "calibrator") -> Any:
    """Return the calibrator if it is an object with `fit` and `transform`."""
    if isinstance(calibrator, type) or not (hasattr(calibrator, "fit") and hasattr(calibrator, "transform")):
        remedy = " Decisions by group are learned by GroupedDecisions." if hasattr(calibrator, "predict") else ""
        raise TypeError(f"`{name}` must have fit and transform, like QuantileCalibrator(); got {calibrator!r}.{remedy}")
    return calibrator
