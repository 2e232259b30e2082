"""Calibration by a sparse Gaussian-process classifier of "is the outcome below t?"."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtr

from ..._checks import Array, choices, count, number
from ...calibration.pit_watch import ConditionalCalibrator
from ...distributions import Distribution
from ...distributions.smoothed import Smoothed
from ...maps.smooth_rows import SmoothRows
from ...numerics.blocks import row_blocks
from ...numerics.copies import merged
from ..features import Basis, fit_basis
from ..held_out import drawn_rows
from ..quantile import QuantileCalibrator
from .designs import Dense, Products
from .grid import GridEvidence, GridProcess, grid_process
from .inputs import ENDS, FARTHEST, LENGTHS, Inputs
from .laplace import CLOSE, LOOSE, TIGHT, Evidence, Pairs, mode, weighted
from .law import Classified
from .likelihoods import LIKELIHOODS, Likelihood
from .pairs import Table, all_pairs, drawn_pairs
from .process import Process
from .quick import QuickQuantiles, quick_quantiles, remembered
from .surface import BLOCK, FINE, ROUGH, Surface, maps_of_rows

_FEWEST = 10  # rows up to which only the quantile map is used
_KERNELS = {"linear+rbf": ("rbf", True), "rbf": ("rbf", False), "matern52": ("matern52", False)}
_TEMPERS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # weight of a pair: those of one row say the same several times
_NOTHING = Dense(np.empty((0, 0)))
_MOST_ROWS = 30_000  # that the classifier learns from
_MOST_KEPT = 30_000_000  # numbers kept between Newton steps
_MOST_LEARNED = 5_000  # pairs that lengths are learned from


class GPCCalibrator(ConditionalCalibrator):
    r"""Learn :math:`P(Y \le t \mid q(t), t)` from all pairs of rows and thresholds.

    .. math:: \operatorname{logit} \hat q(t) = \operatorname{logit} q(t) + h(u, t), \qquad h \sim GP,
        \quad u = \Phi^{-1}(q(t))

    Song et al. (2018), section 5, with differences: h is a sparse process (Nyström basis, RBF kernel), so that all N·K
    pairs are used where the paper stops at 5 000; it is the change to the forecast, after a quantile map common to all
    rows, so that few data leave the forecast as it is; and what it predicts along t is made monotone and smooth
    (:math:`\hat q` projected by isotonic regression, averaged over near thresholds, with 1 % of the forecast mixed
    in), so that every result is a proper distribution. The raw classifier is not: its finite differences are negative
    in many places.

    The pairs of one row are not independent; how much each counts is chosen by the log density of held-out rows.

    As published, but for what the notes list, is ``GPCCalibrator(mean="zero", inputs="q", lengths="learn",
    quantile_map=False, kernel="rbf", n_basis=None, n_pairs=5_000, n_grid=1_024)``: :math:`h(q, t) \sim GP(0, k)`,
    :math:`\hat q = E\,\phi(h)`.

    How many rows do I need? With 10 or fewer only the quantile map is used; some hundreds let it see a second mode. Of
    more than 30 000 rows, as many are drawn (with a fixed seed) for the classifier; the quantile map learns from all.

    Quantiles of 512 rows or more, from 0.001 to 0.999, are read off a table, to 1e-6 in probability.

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.013, 0.0026, 0.0003 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    n_thresholds : int, default 32
        Thresholds that the classifier is trained on, evenly spaced over the range of the outcomes and half of it more
        on both sides.
    n_basis : int or None, default 64
        Landmarks of the sparse process. None, for ``kernel="rbf"``: a grid of up to 16 x 20, and lengths no shorter
        than it resolves, which is the exact classifier to 1e-4 in probability.
    n_pairs : int or None, default None
        Pairs that it learns from, as many for each threshold, drawn with a fixed seed; None for all. Those of one row
        say the same several times: where they have weight 1, all pairs of 64 thresholds overfit.
    n_grid : int, default 256
        Thresholds that it predicts on; the forecast is rescaled between them.
    mean : {"forecast", "zero"}, default "forecast"
        What h is added to: the forecast's own logit (or score, for "probit"), or 0 as in the paper.
    inputs : {"score", "q"}, default "score"
        What h is a function of beside t: the normal score of q(t), clipped at ±4, or q(t) itself as in the paper.
    lengths : {"fixed", "learn"}, default "fixed"
        Fixed length scales and unit variance, pairs weighted by held-out rows, and the most probable h; or length
        scales and variance by Laplace's approximation of the paper's eq. 10, pairs of weight 1, and predictions
        averaged over the posterior of h.
    quantile_map : bool, default True
        Whether a map common to all rows comes first; the paper has none.
    link : {"logit", "probit"}, default "logit"
        From h to probabilities; the paper names both.
    kernel : {"linear+rbf", "rbf", "matern52"}, default "linear+rbf"
        Of h; "rbf" is the paper's, "linear+rbf" adds a constant and linear functions.
    temper : float or None, default None
        Weight of a pair; None to choose it by held-out rows, or for 1 where lengths are learned. A given one takes a
        fifth of the time; 1 is bold, which suits one of several forecasts that are averaged.

    Attributes
    ----------
    quantile_ : QuantileCalibrator or None
        The map common to all rows.
    temper_ : float or None
        Weight of a pair; None where too few rows were seen.
    coefficients_ : ndarray
        Of the basis functions.
    rows_learned_ : int or None
        Rows that these were learned from, at most 30 000; None where too few were seen, and in files of earlier
        versions.
    covariance_ : ndarray or None
        Of the coefficients under the posterior, where predictions are averaged.
    pit_distances_ : tuple of float
        Largest distance of the PIT values of unseen outcomes from uniform, before and after (two halves, each
        calibrated by the other); a warning tells if it grew by more than chance explains. NaN with fewer than 40 rows.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 4, 500)
    >>> y = x * rng.choice([-1.0, 1.0], 500) + 0.3 * rng.standard_normal(500)
    >>> law = GPCCalibrator().fit(Normal(x, 3.0), y).transform(Normal([3.5], 3.0))
    >>> bool(law.pdf([0.0])[0] < 0.3 * law.pdf([3.5])[0])
    True

    Notes
    -----
    Differs from the paper in: by default, the offset, Φ⁻¹ as input and its clipping, the quantile map, fixed lengths,
    the linear functions, one h in place of its average, the weights of pairs, a process with ``n_basis`` landmarks
    that learns from all pairs (lengths, where these are learned, from at most 5 000, those of rows taken evenly). Too
    few landmarks cost most where lengths are learned: the evidence is then that of another process, whose lengths suit
    no finer one. Always: the length along t is at least the gap between thresholds; t is measured from -2
    to 2 over the range, which learned lengths undo; the range is that of the outcomes seen by `fit`; expectation
    propagation is not offered; the prediction is made monotone and smooth and has 1 % of the forecast, whose shape it
    takes between the thresholds of the grid and beyond them, where the paper takes finite differences as they come.
    """

    _later: ClassVar[dict[str, Any]] = {
        "mean": "forecast", "inputs": "score", "lengths": "fixed", "quantile_map": True, "link": "logit",
        "kernel": "linear+rbf", "covariance_": None, "rows_learned_": None, "n_pairs": None, "temper": None,
    }  # fmt: skip

    def __init__(
        self,
        n_thresholds: int = 32,
        *,
        n_basis: int | None = 64,
        n_pairs: int | None = None,
        n_grid: int = 256,
        mean: str = "forecast",
        inputs: str = "score",
        lengths: str = "fixed",
        quantile_map: bool = True,
        link: str = "logit",
        kernel: str = "linear+rbf",
        temper: float | None = None,
    ) -> None:
        self.n_thresholds = n_thresholds
        self.n_basis = n_basis
        self.n_pairs = n_pairs
        self.n_grid = n_grid
        self.mean = mean
        self.inputs = inputs
        self.lengths = lengths
        self.quantile_map = quantile_map
        self.link = link
        self.kernel = kernel
        self.temper = temper

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        self._check()
        if forecasts.is_discrete:
            none = f"{type(forecasts).__name__} has none"
            raise ValueError(f"`forecasts` must have densities; {none}. Use DensityCalibrator or StackCalibrator.")
        w = np.ones(len(y)) if weights is None else weights
        self.quantile_: QuantileCalibrator | None = self._first_map(forecasts, y, weights)
        law = self._mapped(forecasts)
        low, high = float(y.min()), float(y.max())
        reach = 0.5 * (high - low) or float(np.median(np.diff(law.interval(0.5))))
        self.range_, self.temper_ = (low - reach, high + reach), None
        self.rows_learned_: int | None = None
        self.covariance_: Array | None = None
        if w.sum() <= _FEWEST:
            left = "only the quantile map is used" if self.quantile_map else "forecasts stay as they are"
            warnings.warn(f"{len(y)} rows are too few for a classifier; {left}.", stacklevel=3)
            return
        self._basis: Basis | Process | GridProcess = self._fit_basis(law, w)
        if self.lengths == "learn":
            self._basis = self._learned(law, y, w)
        given = 1.0 if self.lengths == "learn" else self.temper
        self.temper_ = self._choose_temper(law, y, w) if given is None else float(given)
        self._fit_coefficients(law, y, w, np.zeros(self._basis.size))

    def _check(self) -> None:
        for name in ("n_thresholds", "n_basis", "n_pairs", "n_grid"):
            if name not in ("n_basis", "n_pairs") or getattr(self, name) is not None:
                count(getattr(self, name), name, least=2)
        if self.n_basis is None and self.kernel != "rbf":
            raise ValueError(f'`n_basis` must be a number unless `kernel` is "rbf"; got None and {self.kernel!r}.')
        if self.temper is not None and number(self.temper, "temper", above=0) and self.lengths == "learn":
            raise ValueError(f'`temper` must be None where `lengths` is "learn"; got {self.temper!r}.')
        choices(
            mean=(self.mean, ("forecast", "zero")), inputs=(self.inputs, LENGTHS),
            lengths=(self.lengths, ("fixed", "learn")), quantile_map=(self.quantile_map, (True, False)),
            link=(self.link, LIKELIHOODS), kernel=(self.kernel, _KERNELS),
        )  # fmt: skip

    def _first_map(self, forecasts: Distribution, y: Array, weights: Array | None) -> QuantileCalibrator | None:
        return QuantileCalibrator().fit(forecasts, y, sample_weight=weights) if self.quantile_map else None

    def _mapped(self, forecasts: Distribution) -> Distribution:
        """Forecasts after the map that is common to all, where there is one."""
        return forecasts if self.quantile_ is None else self.quantile_.transform(forecasts)

    @property
    def _likelihood(self) -> Likelihood:
        return LIKELIHOODS[self.link]

    def _refitted(self, forecasts: Distribution, y: Array, w: Array) -> GPCCalibrator:
        """Quantile map and coefficients from these rows; basis and weight of a pair stay."""
        other = copy(self)
        other.quantile_ = self._first_map(forecasts, y, w)
        if self.temper_ is not None:
            other._fit_coefficients(other._mapped(forecasts), y, w, self.coefficients_)
        return other

    # ---- the process ----
    def _fit_basis(self, law: Distribution, w: Array) -> Basis | Process | GridProcess:
        if self.n_basis is None:
            return grid_process(ENDS[self.inputs], self.n_thresholds, LENGTHS[self.inputs])
        today = self.kernel == "linear+rbf" and self.lengths == "fixed"
        t = np.linspace(*self.range_, 33 if today else self.n_thresholds)
        thin = slice(None, None, -(-len(law) // 2000))
        points = self._features(law[thin], t)
        near = (np.abs(points[:, 0]) < FARTHEST) | (self.inputs == "q")
        distinct, mass = merged(points[near], np.repeat(w[thin], len(t))[near])
        points, lengths = points[near][distinct], LENGTHS[self.inputs]
        if today:
            return fit_basis(points, mass, lengths, most=self.n_basis)
        few = len(points) <= self.n_basis
        landmarks = points if few else fit_basis(points, mass, lengths, most=self.n_basis).landmarks
        return Process(landmarks, lengths, 1.0, *_KERNELS[self.kernel])

    def _learned(self, law: Distribution, y: Array, w: Array) -> Process | GridProcess:
        """The process whose lengths and variance make the outcomes of some pairs most probable."""
        t, table = self._thresholds(), self._table_to_learn_from(law, y, w)
        first: Any = self._basis
        pairs = Pairs(_NOTHING, self._offset(table.z).ravel(), table.below.ravel(), table.weights.ravel())
        if isinstance(first, GridProcess):
            return GridEvidence(first, self._at.first(table.z), self._at.place(t), pairs, self._likelihood).best()
        gaps = np.array([0.0, 4 / (len(t) - 1)])  # outcomes between thresholds are not seen
        return Evidence(first, self._at.points(table.z, t), pairs, self._likelihood).best(gaps)

    def _table_to_learn_from(self, law: Distribution, y: Array, w: Array) -> Table:
        """The pairs themselves where their number is set; else those of rows taken evenly, which stand for all."""
        t = self._thresholds()
        if self.n_pairs is not None:
            rows = drawn_rows(len(y), _MOST_ROWS)
            return drawn_pairs(law[rows], y[rows], w[rows], t, self.n_pairs)
        most = max(_MOST_LEARNED // self.n_thresholds, 2)
        some = np.linspace(0, len(y) - 1, min(len(y), most)).round().astype(np.intp)
        return all_pairs(law[some], y[some], w.sum() / w[some].sum() * w[some], t)

    def _thresholds(self) -> Array:
        return np.linspace(*self.range_, self.n_thresholds)

    def _features(self, law: Distribution, t: Array) -> Array:
        """(input, standardised threshold) of all pairs, (n K, 2)."""
        return self._at.points(law.to_normal(t[None, :]), t)

    @property
    def _at(self) -> Inputs:
        return Inputs(self.inputs, self.range_)

    def _design(self, z: Array, t: Array) -> Dense | Products:
        """The functions at scores (n, K) of thresholds (K,), or at any scores and thresholds."""
        if isinstance(self._basis, GridProcess) and t.ndim == 1 and z.ndim == 2:
            return self._basis.products(self._at.first(z), self._at.place(t))
        return Dense(self._basis(self._at.points(z, t)))

    def _offset(self, z: Array) -> Array:
        return np.zeros(z.shape) if self.mean == "zero" else self._likelihood.offset(z)

    # ---- fitting ----
    def _blocks_of_pairs(self, law: Distribution, y: Array, w: Array) -> Callable[[], Iterable[Pairs]]:
        """All pairs, block by block: kept if they are few, made anew on each pass if they are many."""
        if len(y) * self.n_thresholds * self._basis.size > _MOST_KEPT:
            return lambda: self._pairs(law, y, w)
        kept = list(self._pairs(law, y, w))
        return lambda: kept

    def _pairs(self, law: Distribution, y: Array, w: Array) -> Iterator[Pairs]:
        t = self._thresholds()
        if self.n_pairs is not None:
            yield self._block(drawn_pairs(law, y, w, t, self.n_pairs), t)
            return
        for rows in row_blocks(len(y), block=BLOCK):
            yield self._block(all_pairs(law[rows], y[rows], w[rows], t), t)

    def _block(self, table: Table, t: Array) -> Pairs:
        z, below, weights = table
        return Pairs(self._design(z, t), self._offset(z).ravel(), below.ravel(), weights.ravel())

    def _fit_coefficients(self, law: Distribution, y: Array, w: Array, start: Array) -> None:
        rows = drawn_rows(len(y), _MOST_ROWS)
        law, y, w = law[rows], y[rows], w[rows]
        self.rows_learned_ = len(y)
        blocks = self._blocks_of_pairs(law, y, (self.temper_ or 0.0) * w)
        averaged = self.lengths == "learn"
        self.coefficients_, hessian = mode(blocks, self._likelihood, start, TIGHT if averaged else CLOSE)
        self.covariance_ = cho_solve(cho_factor(hessian), np.eye(len(hessian))) if averaged else None

    def _choose_temper(self, law: Distribution, y: Array, w: Array) -> float:
        """Try each weight of a pair on two halves of at most 4 000 rows."""
        rows = np.linspace(0, len(y) - 1, min(len(y), 4000)).round().astype(np.intp)
        half = np.unique(y[rows], return_inverse=True)[1] % 2 == 0  # equal outcomes stay together
        scores, grid = np.zeros(len(_TEMPERS)), self._grid()
        for train, test in ((rows[half], rows[~half]), (rows[~half], rows[half])):
            blocks, thetas = self._blocks_of_pairs(law[train], y[train], w[train]), [np.zeros(self._basis.size)]
            for temper in _TEMPERS:
                thetas.append(mode(weighted(blocks, temper), self._likelihood, thetas[-1], LOOSE)[0])
            maps = maps_of_rows(law[test], grid, self._classifiers(np.array(thetas[1:]), ROUGH))
            scores += [w[test] @ Smoothed(law[test], each, grid).logpdf(y[test]) for each in maps]
        return _TEMPERS[int(np.argmax(scores))]

    # ---- predicting ----
    def _transform(self, forecasts: Distribution) -> Distribution:
        law = self._mapped(forecasts)
        if self.temper_ is None:
            return law
        now = copy(self)  # what a later fit learns does not change these laws
        return Classified.of(law, self._grid(), now._rows, now._quick)

    def _rows(self, law: Distribution) -> SmoothRows:
        return maps_of_rows(law, self._grid(), self._classifiers(self.coefficients_[None]))[0]

    def _classifiers(self, thetas: Array, cells: int = FINE) -> Callable[[Array], list[Array]]:
        """From scores of the grid (n, K) to what it says with each coefficients, by tables if there may be such."""
        if not self._is_smooth or self.inputs != "score":
            return lambda z: [self._probabilities(z, self._grid(), theta) for theta in thetas]
        make = partial(self._surfaces, thetas, cells)  # rough ones are looked at once
        surfaces = remembered(self._basis, "surfaces", (thetas, self._grid()), make) if cells == FINE else make()

        def classify(z: Array) -> list[Array]:
            first, offset = self._at.first(z), self._offset(z)
            return [self._likelihood.probability(offset + surface(first)) for surface in surfaces]

        return classify

    def _surfaces(self, thetas: Array, cells: int) -> list[Surface]:
        return [Surface.of(partial(self._change, theta=theta), cells) for theta in thetas]

    @property
    def _is_smooth(self) -> bool:
        """Whether its values are those of few smooth functions, of which tables may be made."""
        return isinstance(self._basis, Basis) and len(self._basis.landmarks) > 0 and self.covariance_ is None

    def _quick(self) -> QuickQuantiles | None:
        """Quantiles of many rows, by a table that is made once; None where there is none for these settings."""
        if not self._is_smooth:
            return None
        common = None if self.quantile_ is None else self.quantile_.map_
        make = partial(quick_quantiles, common, self._classify, self._grid())
        known = (self.coefficients_, common, self._grid(), self.mean, self.inputs, self.link)
        return remembered(self._basis, "quantiles", known, make)

    def _classify(self, z: Array) -> Array:
        """Probabilities (n, K) at scores (n,) and all thresholds of the grid."""
        change = self._change(self._at.first(z), self.coefficients_)
        return self._likelihood.probability(self._offset(z)[:, None] + change)

    def _change(self, first: Array, theta: Array) -> Array:
        """h at inputs (n,) and all thresholds of the grid, (n, K)."""
        basis: Any = self._basis
        return np.asarray(basis.crossed(first, self._at.place(self._grid()), theta))

    def _probabilities(self, z: Array, t: Array, theta: Array) -> Array:
        """What the classifier says of scores at thresholds, with these coefficients."""
        offset = self._offset(z)
        if self.covariance_ is None:
            h = self._basis.combined(self._at.points(z, t), theta[:, None])
            return self._likelihood.probability(offset + h.reshape(z.shape))
        design, process = self._design(z, t), self._basis
        variance = design.variances(self.covariance_) + process.left_out(design)  # type: ignore[union-attr,arg-type]
        mean = offset + design.combined(theta).reshape(z.shape)
        return self._likelihood.averaged(mean, variance.reshape(z.shape))

    def _grid(self) -> Array:
        return np.linspace(*self.range_, self.n_grid)

    def probability(self, score: Any, t: Any) -> Array:
        r"""The classifier itself, :math:`\hat q` at pairs of :math:`u = \Phi^{-1}(q)` and t: the paper's fig. 2."""
        u, at = np.broadcast_arrays(np.asarray(score, dtype=float), np.asarray(t, dtype=float))
        if self.temper_ is None:
            return np.asarray(ndtr(u))
        return self._probabilities(u, at, self.coefficients_)
