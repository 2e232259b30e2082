"""The flagship: several calibrators, weighed by what they say of outcomes they have not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..._checks import Array, one_of
from ...calibration import RegressionCalibrator, normal_scores
from ...calibration.contract import Takes, fit_with, refuse_features, takes_of, transform_with
from ...calibration.feature_table import FeatureTable, features_of
from ...calibration.pit_watch import PitWatched, Unseen, effective_rows, pit_distances, unwatched
from ...distributions import Distribution, Mixture
from ...metrics import pit
from ..boosted.calibrator import BoostedCalibrator
from ..density import DensityCalibrator
from ..features import distinct
from ..flow import FlowCalibrator
from ..gpc import GPCCalibrator
from ..held_out import held_out_splits
from ..map_choice import shared_maps
from ..quantile import QuantileCalibrator
from .candidates import ScoreMixtureCalibrator
from .shares import gain, ways_to_share

BASE = "base"
BOLD = "e-logistic"  # weighed only where the base is clearly wrong
FAVOURED = ("mixture", "smooth mixture", "gpc")  # wide families of laws, one of which is seldom far from the best
FAVOUR = 1.0  # rows' worth of trust in each of these
FEWEST_ROWS = 15
FEW_ROWS = 500  # below which a classifier of thresholds competes, whose laws take longest to work out
MANY_ROWS = 2_000  # from which on a flow with closer knots competes, and the bold one no more


def default_candidates(
    rows: float = MANY_ROWS - 1, *, features: bool = False, densities: bool = True
) -> dict[str, RegressionCalibrator]:
    """The calibrators that a stack weighs if none are given, by name; they depend on the rows to learn from."""
    few, many = rows < FEW_ROWS, rows >= MANY_ROWS
    penalty = 0.1 if few else 1.0
    found: dict[str, RegressionCalibrator] = {
        "quantile": QuantileCalibrator(),
        "normal": ScoreMixtureCalibrator(1, "linear"),
        "smooth normal": ScoreMixtureCalibrator(1, "smooth"),
        "mixture": ScoreMixtureCalibrator(2, "linear"),
        "smooth mixture": ScoreMixtureCalibrator(2, "smooth"),
        "flow": FlowCalibrator(penalty=penalty),
        "density": DensityCalibrator(),
    }
    if few or many:
        found["flow of hats"] = FlowCalibrator(12, bumps="hats", penalty=penalty)
    if few and densities:
        found["gpc"] = GPCCalibrator(64, n_grid=64, temper=1.0)
    if not many:
        found[BOLD] = DensityCalibrator("logistic", 64, base_map=None, penalty=0.01)
    return found | ({"boosted": BoostedCalibrator()} if features else {})


class StackCalibrator(PitWatched):
    r"""Mix the forecasts of several calibrators and the base; the recommended choice for whole distributions.

    .. math:: F(y) = \sum_k \omega_k F_k(y), \quad
        \omega = \arg\max \sum_i w_i \ln \sum_k \omega_k f_k^{(-i)}(y_i) + \sum_k \alpha_k \ln \omega_k

    :math:`f_k^{(-i)}` is candidate k's density fitted without row i (five folds; from 2 000 rows on, one split of 4 500
    and 1 500 rows). :math:`\alpha` is 0.1, and up to 2 for the base unless the mixture gains more than 6 nats over it
    on these rows together; families that are seldom far from the best (mixtures of normal laws, GPC) have up to 1 more,
    a third of that where they are 3 nats behind the best. The problem is concave and solved by EM. Candidates below 2 %
    are dropped, below 5 % beyond those 6 nats and with fewer than 2 000 rows; the others are fitted again on all rows.
    The base always keeps 0.2 rows' worth. Where the PIT values of unseen outcomes under the mixture are off by more
    than chance, the map of `QuantileCalibrator` comes after it, fitted to them: it stays if, learned from one half, it
    gains more than one standard error on the other.

    Features X, where given, are one candidate more: `BoostedCalibrator`, which needs LightGBM.

    How many rows do I need? Shapes and widths that depend on the forecast are found from a few hundred rows on.
    With fewer than 15 rows only the quantile map is used, with a warning.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.0074, 0.0036, 0.0012 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    candidates : None, list of calibrators, or dict of them by name
        None: a quantile map, one or two normal laws of the normal scores with parameters linear or smooth in the
        forecast, `FlowCalibrator`, from 2 000 rows on a second one of 12 hats, `DensityCalibrator`, and with features
        `BoostedCalibrator`. With fewer rows also e-logistic, 64 thresholds that know where outcomes heap and end
        whatever is forecast: a bold one, weighed only beyond those 6 nats, and left out if unseen outcomes are more
        probable under the others and the map. With fewer than 500 also `GPCCalibrator` of 64 thresholds, which sees
        that too, and both flows with a tenth of the penalty. The forecasts as they are always compete, as "base".
    random_state : int, Generator or None
        For the folds; None is 0.
    features : bool, default False
        Whether whoever hands over forecasts, `CalibratedRegressor` or a `Chain`, is asked for the features of their
        rows where no candidates are named. `fit` uses the features that it is given, asked for or not.

    Attributes
    ----------
    weights_ : dict of float
        By name, "base" first; 0 for those that were dropped.
    calibrators_ : dict of Calibrator
        The kept ones, fitted on all rows.
    rest_ : QuantileCalibrator or None
        The map that comes after the mixture.
    held_out_ : ndarray (1 + number of candidates,)
        Mean log density of unseen outcomes under each.
    pit_distances_ : tuple of float
        Largest distance of the PIT values of these outcomes from uniform, under the base and under the stack; a
        warning tells if it grew by more than chance explains. NaN with fewer than 15 rows.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> mu = rng.uniform(0.0, 10.0, 500)
    >>> y = mu * rng.choice([0.0, 2.0], 500) + rng.normal(size=500)  # right in the mean, but one of two
    >>> stack = StackCalibrator().fit(Normal(mu, 5.0), y)
    >>> stack.transform(Normal([9.0], 5.0)).cdf(np.array([[4.0, 9.0, 14.0]])).round(1)
    array([[0.5, 0.5, 0.5]])
    >>> stack.explain()
    '...'
    """

    _later: ClassVar[dict[str, Any]] = {"features": False, "rest_": None}  # lacking in earlier files

    def __init__(self, candidates: Any = None, *, random_state: Any = None, features: bool = False) -> None:
        self.candidates = candidates
        self.random_state = random_state
        self.features = features

    @property
    def takes(self) -> Takes:  # type: ignore[override]
        """Distributions; features if asked for, or if a candidate takes them; once fitted, if a kept one does."""
        given = default_candidates() if self.candidates is None else _named(self.candidates)
        parts = vars(self).get("calibrators_", given).values()
        each = [takes_of(part) for part in parts]
        asked = self.features and self.candidates is None and "calibrators_" not in vars(self)
        beside = Takes().also("X") if asked or any("X" in taken.beside for taken in each) else Takes()
        return beside.also("X", needs=True) if any("X" in taken.needs for taken in each) else beside

    def fit(self, forecasts: Any, y: Any, *, X: Any = None, sample_weight: Any = None) -> Self:
        """Learn from n forecasts and their outcomes, and from their features if there are any.

        Parameters
        ----------
        forecasts : Distribution or what `as_distribution` takes, n rows
        y : array-like (n,)
        X : array-like or frame (n, d), optional
        sample_weight : array-like (n,), optional
        """
        one_of(self.features, "features", (False, True))
        if self.candidates is not None:
            refuse_features(X, clone(self), "the stack of these candidates")
        return self._fit_usable(forecasts, y, sample_weight, X)

    def transform(self, forecasts: Any, *, X: Any = None) -> Distribution:
        """Calibrated forecasts of the same rows, whose features are X, columns as in `fit`."""
        check_is_fitted(self)
        return self._transform(self._read(forecasts), X)

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None, X: Any = None) -> None:
        table = None if X is None else FeatureTable.learn(X, len(y))(X, len(y))
        kept, w = distinct(forecasts, y, weights, table)
        sample = _Sample(forecasts[kept], y[kept], w, features_of(X, kept))
        rows = float(min(len(kept), w.sum()))
        usual = default_candidates(rows, features=X is not None, densities=not forecasts.is_discrete)
        candidates = usual if self.candidates is None else _named(self.candidates)
        shares = np.zeros(1 + len(candidates))
        if rows < FEWEST_ROWS:
            warnings.warn(
                f"too few rows to learn from: {rows:g}; only a quantile map is used. {FEWEST_ROWS} are the "
                f"fewest, a hundred or more are better.",
                stacklevel=3,
            )
            shares[0], self.held_out_, self.pit_distances_ = 1.0, np.full(len(shares), np.nan), (np.nan, np.nan)
            self.rest_: QuantileCalibrator | None = QuantileCalibrator().fit(sample.laws, sample.y, sample_weight=w)
        else:
            shares = self._weigh(sample, candidates)
        self.weights_ = dict(zip([BASE, *candidates], shares.tolist(), strict=True))
        used = {name: calibrator for name, calibrator in candidates.items() if self.weights_[name] > 0}
        self.calibrators_ = dict(zip(used, sample.each_fitted(used.values()), strict=True))

    def _weigh(self, sample: _Sample, candidates: dict[str, RegressionCalibrator]) -> Array:
        """Shares under which unseen outcomes are most probable, and the map of what is left."""
        parts, laws = [], []
        for train, test in held_out_splits(len(sample.y), self.random_state):
            part, new = sample.part(test), sample.part(train)
            parts.append(part)
            fitted = new.each_fitted(candidates.values())
            laws.append([part.laws, *(transform_with(one, part.laws, X=part.X) for one in fitted)])
        logs = np.concatenate([_log_likelihoods(each, part) for each, part in zip(laws, parts, strict=True)])
        w = np.concatenate([part.weights for part in parts])
        self.held_out_ = w @ logs / w.sum()
        usual = self.candidates is None
        careful = np.array([True] + [not usual or name != BOLD for name in candidates])
        favour = np.array([0.0] + [FAVOUR * (usual and name in FAVOURED) for name in candidates])
        ways: list[_Way] = []
        for shares in ways_to_share(logs, w, careful, float(sample.weights.sum()), favour):
            ways.append(_Way.of(shares, laws, parts))
            if not ways[0].halves.map_is_better:  # what a map sharpens need not be bold
                break
        shares, mixed, halves = max(ways, key=lambda way: way.halves.log_likelihood)
        self.rest_ = _map_of(mixed) if halves.map_is_better else None
        self.pit_distances_ = pit_distances(self, halves.unseen(mapped=self.rest_ is not None))
        return shares

    def _check_sound(self) -> None:
        super()._check_sound()
        shares = np.array([self.weights_[name] for name in (BASE, *self.calibrators_)], dtype=np.float64)
        if not ((shares >= 0) & (shares <= 1)).all() or abs(shares.sum() - 1) > 1e-6:
            raise ValueError("StackCalibrator.weights_ must be shares that add up to 1.")

    def _check_forecasts(self) -> None:
        """Raise ValueError if what it makes of the examples are no forecasts; with features, its parts."""
        if not any("X" in takes_of(part).needs for part in self.calibrators_.values()):
            super()._check_forecasts()
            return
        for part in (*self.calibrators_.values(), *([self.rest_] if self.rest_ else [])):
            part._check_forecasts()

    def _transform(self, forecasts: Distribution, X: Any = None) -> Distribution:
        made = [transform_with(calibrator, forecasts, X=X) for calibrator in self.calibrators_.values()]
        law = Mixture([forecasts, *made], np.array([self.weights_[name] for name in (BASE, *self.calibrators_)]))
        return law if self.rest_ is None else self.rest_.transform(law)

    def explain(self) -> str:
        """The weights in words, largest first: "62 % flow, 30 % mixture, 8 % base"."""
        shares = sorted(self.weights_.items(), key=lambda item: -item[1])
        told = ", ".join(f"{100 * share:.0f} % {name}" for name, share in shares if share >= 0.005)
        return told if self.rest_ is None else f"{told}, then a quantile map of all"


class _Sample(NamedTuple):
    """Forecasts, outcomes, weights and features of some rows."""

    laws: Distribution
    y: Array
    weights: Array
    X: Any

    def part(self, rows: NDArray[np.intp]) -> _Sample:
        """Some of them."""
        return _Sample(self.laws[rows], self.y[rows], self.weights[rows], features_of(self.X, rows))

    def each_fitted(self, calibrators: Iterable[RegressionCalibrator]) -> list[RegressionCalibrator]:
        """Copies fitted to these rows; only the whole stack is watched."""
        told: dict[str, Any] = {"sample_weight": self.weights, "X": self.X}
        with unwatched(), shared_maps():
            return [fit_with(clone(calibrator), self.laws, self.y, **told) for calibrator in calibrators]

    def every(self, second: int) -> _Sample:
        """Every second row, from the first or the second on."""
        return self.part(np.arange(second, len(self.y), 2))


def _mixture(laws: list[Distribution], shares: Array) -> Distribution:
    used = np.flatnonzero(shares)
    return Mixture([laws[k] for k in used], shares[used])


def _map_of(parts: list[_Sample]) -> QuantileCalibrator:
    """The default map of the scores of outcomes."""
    scores = [normal_scores(part.laws, part.y, part.weights) for part in parts]
    z = np.concatenate([score for score, _ in scores])
    w = np.concatenate(
        [part.weights if spread is None else spread for part, (_, spread) in zip(parts, scores, strict=True)]
    )
    heavy = any(part.laws.has_heavy_tails for part in parts)
    rows = sum(len(part.y) for part in parts)
    return QuantileCalibrator().fit_scores(z, w, (float(z.min()), float(z.max())), n_rows=rows, heavy_tails=heavy)


class _Halves(NamedTuple):
    """PIT intervals of outcomes before, after and mapped, log likelihoods of the last two (n, 2), and weights.

    The map is learned from every second outcome for the others.
    """

    before: Array
    after: Array
    mapped: Array
    logs: Array
    weights: Array

    @property
    def map_is_better(self) -> bool:
        """Whether the map gains more than one standard error."""
        gains = gain(*self.logs.T)
        mean = self.weights @ gains / self.weights.sum()
        spread = np.sqrt(self.weights @ np.square(gains - mean) / self.weights.sum())
        return bool(mean > spread / np.sqrt(effective_rows(self.weights)))

    @property
    def log_likelihood(self) -> float:
        """Of the outcomes, mapped if that is better."""
        return float(self.weights @ self.logs[:, int(self.map_is_better)])

    def unseen(self, *, mapped: bool) -> Unseen:
        """What is told of the PIT values."""
        after = self.mapped if mapped else self.after
        return Unseen(self.before, after, self.weights, effective_rows(self.weights))


def _halves(parts: list[_Sample], mixed: list[_Sample]) -> _Halves:
    found = []
    for second in (0, 1):
        fitted = _map_of([part.every(1 - second) for part in mixed])
        for part, mixture in zip(parts, mixed, strict=True):
            own, made = part.every(second), mixture.every(second)
            laws = [own.laws, made.laws, fitted.transform(made.laws)]
            logs = _log_likelihoods(laws[1:], own)
            found.append((*(pit(own.y, law, kind="interval") for law in laws), logs, own.weights))
    return _Halves(*(np.concatenate(each) for each in zip(*found, strict=True)))


class _Way(NamedTuple):
    """Shares, the held-out rows with their mixtures as forecasts, and what is seen of these."""

    shares: Array
    mixed: list[_Sample]
    halves: _Halves

    @classmethod
    def of(cls, shares: Array, laws: list[list[Distribution]], parts: list[_Sample]) -> _Way:
        """Mix the laws of each part by these shares."""
        mixed = [part._replace(laws=_mixture(each, shares)) for each, part in zip(laws, parts, strict=True)]
        return cls(shares, mixed, _halves(parts, mixed))


def _log_likelihoods(laws: list[Distribution], part: _Sample) -> Array:
    """Of outcomes under each law, (n, c): log probabilities where the base has an atom, log densities elsewhere."""
    return np.column_stack([_log_likelihood(law, part.laws, part.y) for law in laws])


def _log_likelihood(law: Distribution, base: Distribution, y: Array) -> Array:
    if not base.has_atoms or law.is_discrete:
        return law.logpmf(y) if law.is_discrete else law.logpdf(y)
    atom = base.to_normal(y, "left") < base.to_normal(y)
    out = np.empty(len(y))
    out[atom], out[~atom] = law[atom].logpmf(y[atom]), law[~atom].logpdf(y[~atom])
    return out


def _named(candidates: Any) -> dict[str, RegressionCalibrator]:
    """Candidates by name; those of a list are called by their class."""
    if isinstance(candidates, Mapping):
        named = {str(name): calibrator for name, calibrator in candidates.items()}
    else:
        named = {}
        for calibrator in candidates:
            name = type(calibrator).__name__.removesuffix("Calibrator").lower()
            same = sum(other.rstrip(" 0123456789") == name for other in named)
            named[f"{name} {same + 1}" if same else name] = calibrator
    for name, calibrator in named.items():
        if name == BASE or isinstance(calibrator, type) or not hasattr(calibrator, "transform"):
            raise TypeError(
                f'`candidates` must be calibrators with fit and transform, none called "{BASE}"; '
                f"got {name}: {calibrator!r}."
            )
    return named
