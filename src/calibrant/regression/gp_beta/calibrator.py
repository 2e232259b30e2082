"""GP-Beta: a beta map for every forecast, its parameters a Gaussian process over the forecasts."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..._checks import Array, count, one_of
from ...calibration.pit_watch import ConditionalCalibrator
from ...distributions import Distribution, Recalibrated
from ...maps import Map, UnitTails
from ...maps.averaged_beta import AveragedBetaMap
from ...numerics.copies import merged
from ...numerics.soundness import check_finite
from ..features import Scores, distinct_rows, scores_by_row
from ..quantile import QuantileCalibrator
from .inducing import choose_inducing, filled_up
from .inference import Climb, Data, Posterior, Prior, climb, latents
from .kernels import COMPETING, KERNELS, Kernel, QuantileEmbedding, Scaling, moments, whitened
from .learning import Hyperparameters, Learned, Problem, learn, learn_locations
from .likelihood import PAIRS, roots

FIRST_ROWS, MOST_ROWS = 400, 1500  # that kernels compete on, and hyperparameters are learned from
FEW_ROWS = 10  # too few to learn anything
FARTHEST = 100.0  # normal scores beyond this are taken as this
BLOCK = 65536
MOST_STEPS = 60
DIGITS = 7  # of features and scores that count: learning does not magnify how forecasts were rounded


class BetaParameters(NamedTuple):
    """Posterior mean and standard deviation of a, b, c, both (n, 3), with the means at the inducing points.

    ``inducing`` has a line (mean, standard deviation) for each inducing forecast, ``inducing_mean`` its a, b, c.
    """

    mean: Array
    std: Array
    inducing: Array
    inducing_mean: Array


class GPBetaCalibrator(ConditionalCalibrator):
    r"""Give every forecast its own beta map :math:`\sigma(a\ln F - b\ln(1-F) + c)` (Song et al. 2019, §4).

    :math:`(\ln a, \ln b, c)` are three correlated Gaussian processes over the forecasts (their eq. 8-10), so that
    forecasts of similar mean and spread get similar maps: what is wrong only in some places is mended there. The
    calibrated law is the average over what is still uncertain about the map. Inference is variational with inducing
    points (their §4.3), but by natural gradients in closed form: about ten steps instead of thousands.

    Three parameters move, stretch and skew a law. They hardly ever make two modes of one: of a normal law, with a = b
    and c = 0, only where :math:`a < \sqrt{1-\pi/4} \approx 0.46`. On the paper's example the best map has a ≈ 0.63 at x
    = 30, and the two modes that the paper tells of are not found without the quantile map (`FlowCalibrator` and
    `StackCalibrator` find them: ``experiments.song2019.toy`` counts). A beta map improves the density (NLL) **but may
    worsen the probabilistic calibration**: on the paper's example the largest distance of the PIT values from uniform
    grows from 0.05 to 0.13. Both are kept in ``pit_distances_``, and a warning tells if it is clearly worse.

    How many rows do I need? With few it stays close to the identity; a few hundred show a bias or a wrong width
    that changes along the forecasts. Fit on rows the base has not seen (`CalibratedRegressor` does).

    Cost where nothing is wrong, nats a row (`experiments.cost`): 0.012, 0.0055, 0.0019 at 100, 300 and 1 000 rows.

    Parameters
    ----------
    n_inducing : int, default 24
        At most so many inducing points; fewer where forecasts do not differ that much. The paper has 8 to 64.
    kernel : {"auto", "embedding", "ard", "quantiles"}, default "auto"
        - "embedding": between normal laws of the same mean and standard deviation (the paper's, eq. 9, with
          variances), or mixtures of normal laws as they are; wide forecasts are close to all others.
        - "ard": on the mean, the log standard deviation and ``features``, a length scale each.
        - "quantiles": between forecasts as they are, of any law and of samples: what eq. 9 is for normal ones, by a
          quadrature in their quantiles. Slower; sees shapes that mean and standard deviation do not tell.
        - "auto": "embedding" or "ard", the one with the higher evidence bound; "ard" where all forecasts are equally
          wide or ``features`` are given.
    hyperparameters : {"learn", "fixed"}, default "learn"
        Learn the kernel's parameters, the covariance of the three processes and their means (from 1 500 rows if there
        are more), or keep the defaults.
    features : callable, optional
        What else to tell about forecasts: takes a Distribution of n rows, returns numbers, (n,) or (n, d).
    inducing : {"chosen", "learned"}, default "chosen"
        - "chosen": forecasts that leave the least unexplained, one after the other.
        - "learned": starting from these, and from others up to ``n_inducing``, they move by the gradient of the same
          bound, together with the hyperparameters unless these are fixed (as in the paper, §4.3). Where there are
          enough the bound hardly rises: on the paper's example, with 32, by 0.01 of 110 nats over the 14 chosen.
    base_map : {"quantile", None}, default "quantile"
        The map of all forecasts that comes first (`QuantileCalibrator`), so that a and b start near what is needed
        however wrong the widths are; None is the paper. Kernels see the forecasts as they came.
    random_state : int, Generator or None
        Which 1 500 rows; None always takes the same.

    Attributes
    ----------
    quantile_ : QuantileCalibrator or None
        The map common to all rows.
    elbo_ : ndarray
        Evidence lower bound after each iteration, non-decreasing; includes the log prior of the hyperparameters.
    converged_ : bool
    kernel_ : str
    inducing_ : ndarray (m, 2)
        Mean and standard deviation of each inducing forecast.
    pit_distances_ : tuple of float
        Largest distance of the PIT values of unseen outcomes from uniform, before and after (two halves, each
        calibrated by the other, hyperparameters as learned from all); a warning tells if it grew by more than chance
        explains. NaN with fewer than 40 rows.

    Examples
    --------
    >>> from calibrant import Normal
    >>> rng = np.random.default_rng(0)
    >>> mu = rng.uniform(-2, 2, 1000)
    >>> y = mu + np.where(mu > 0, 2.0, 0.5) * rng.standard_normal(1000)   # the forecaster believes in 1 everywhere
    >>> cal = GPBetaCalibrator().fit(Normal(mu, 1.0), y)
    >>> cal.transform(Normal([-1.5, 1.5], 1.0)).std().round(1)
    array([0.6, 2.1])

    Differs from the paper in: the quantile map before it, unless ``base_map=None``; variances in eq. 9, where it prints
    standard deviations; a second kernel, "ard"; inducing points are chosen unless ``inducing="learned"``; natural
    gradients and L-BFGS, where it has Adam on minibatches of 128 rows: minibatches are not needed, since steps in q are
    in closed form and a pass over all rows, and hyperparameters and inducing points are learned from at most 1 500;
    fixed nodes in place of 64 random draws a batch; γ of the link is part of B, which makes the same family; weak
    priors of the hyperparameters, for few rows.
    """

    _copies: ClassVar[float] = 1.0  # more are learned by heart
    _later: ClassVar[dict[str, Any]] = {"inducing": "chosen", "base_map": None, "quantile_": None}

    def __init__(
        self,
        n_inducing: int = 24,
        *,
        kernel: str = "auto",
        hyperparameters: str = "learn",
        features: Any = None,
        inducing: str = "chosen",
        base_map: str | None = "quantile",
        random_state: Any = None,
    ) -> None:
        self.n_inducing = n_inducing
        self.kernel = kernel
        self.hyperparameters = hyperparameters
        self.features = features
        self.inducing = inducing
        self.base_map = base_map
        self.random_state = random_state

    def _fit(self, forecasts: Distribution, y: Array, weights: Array | None) -> None:
        self._check()
        forecasts, y, own = distinct_rows(forecasts, y, weights, self._copies)
        few = own.sum() <= FEW_ROWS
        if few:
            warnings.warn(
                f"only {own.sum():g} rows to learn from (at most {FEW_ROWS}): forecasts stay close to what they were.",
                stacklevel=3,
            )
        self._scaling = Scaling.of(forecasts, own, self.features)
        self.quantile_: QuantileCalibrator | None = self._first_map(forecasts, y, own)
        views, seen = self._views(forecasts, y, own)
        self.span_, self.heavy_tails_ = (float(seen.z.min()), float(seen.z.max())), forecasts.has_heavy_tails
        self._learn(views, seen, few)
        plain = self.inducing == "chosen" and self.kernel_ in COMPETING
        told = moments(forecasts[self._chosen]) if plain else self._kernel().moments(self._scaling, self._inducing)
        self.inducing_ = np.column_stack(told)

    def _check(self) -> None:
        one_of(self.kernel, "kernel", ["auto", *KERNELS])
        one_of(self.hyperparameters, "hyperparameters", ["learn", "fixed"])
        one_of(self.inducing, "inducing", ["chosen", "learned"])
        one_of(self.base_map, "base_map", ["quantile", None])
        count(self.n_inducing, "n_inducing")
        if self.features is not None and (not callable(self.features) or self.kernel in ("embedding", "quantiles")):
            raise ValueError(
                "`features` must be a function of forecasts, for kernel 'ard' or 'auto'; "
                f"got {self.features!r} and kernel {self.kernel!r}."
            )

    def _first_map(self, forecasts: Distribution, y: Array, w: Array) -> QuantileCalibrator | None:
        return QuantileCalibrator().fit(forecasts, y, sample_weight=w) if self.base_map else None

    def _mapped(self, forecasts: Distribution) -> Distribution:
        """Forecasts after the map that is common to all, where there is one."""
        return forecasts if self.quantile_ is None else self.quantile_.transform(forecasts)

    def _views(self, forecasts: Distribution, y: Array, w: Array) -> tuple[dict[str, Array], Scores]:
        """What each kernel sees of the forecasts, and the scores; those that agree but for rounding are one."""
        z, w, rows = scores_by_row(self._mapped(forecasts), y, w)
        z = z.clip(-FARTHEST, FARTHEST).round(DIGITS)
        names = dict.fromkeys([*COMPETING, self.kernel] if self.kernel in KERNELS else COMPETING)
        views = {name: KERNELS[name].view(self._scaling, forecasts).round(DIGITS) for name in names}
        kept, w = merged(np.column_stack([*(view[rows] for view in views.values()), z]), w)
        return views, Scores(z[kept], w, rows[kept])

    def _learn(self, views: dict[str, Array], seen: Scores, few: bool) -> None:
        """Kernels compete on a few hundred rows; the winner's hyperparameters come from 1 500, q from all."""
        learning = self.hyperparameters == "learn" and not few
        rows = _shuffled(len(seen.z), self.random_state)
        owners = seen.rows[rows]
        self._chosen = owners[choose_inducing(views["ard"][owners], self._scaling, self.n_inducing)]
        whole = [
            self._problem(name, views[name], seen, self._points(name, views[name], owners))
            for name in self._kernels(views)
        ]
        some = [problem.part(rows[:FIRST_ROWS]) for problem in whole]
        most = 100 if len(rows) <= FIRST_ROWS else 6  # iterations: enough to see which kernel is better
        found = [learn(problem, most=most) if learning else _unlearned(problem) for problem in some]
        best = int(np.argmax([learned.bounds[-1] for learned in found]))
        learned, part, final = found[best], some[best], whole[best]
        if len(rows) > FIRST_ROWS:
            part = final.part(rows)
            learned = learn(part, learned) if learning else _unlearned(part)
        if self.inducing == "learned" and not few:
            more = self._more_points(part, views[part.kernel.name][owners])
            learned = learn_locations(replace(part, inducing=more), learned, held=not learning)
        self._keep(replace(final, inducing=learned.inducing), part, learned)

    def _points(self, name: str, view: Array, owners: NDArray[np.intp]) -> Array:
        """Features of inducing points: forecasts or, where the kernel sees parts of these, some of the parts."""
        kernel = KERNELS[name]
        if not isinstance(kernel, QuantileEmbedding):
            return view[self._chosen]
        parts = kernel.single(view[owners])
        return parts[choose_inducing(parts, self._scaling, self.n_inducing, kernel)]

    def _more_points(self, problem: Problem, view: Array) -> Array:
        """Where learned locations start from: the chosen points, and others up to the number asked for."""
        kernel, points = problem.kernel, problem.inducing
        view = kernel.single(view) if isinstance(kernel, QuantileEmbedding) else view
        candidates = np.vstack([points, view])
        return candidates[filled_up(np.arange(len(points)), candidates, self.n_inducing)]

    def _kernels(self, views: dict[str, Array]) -> list[str]:
        if self.kernel != "auto":
            return [self.kernel]
        differ = self._scaling.spreads_differ or views["embedding"].shape[1] > 3
        return list(COMPETING) if differ and self.features is None else ["ard"]

    def _kernel(self) -> Kernel:
        return KERNELS[self.kernel_]

    def _problem(self, kernel: str, view: Array, seen: Scores, inducing: Array) -> Problem:
        data = Data(log_ndtr(seen.z), log_ndtr(-seen.z), seen.weights)
        return Problem(data, view[seen.rows], inducing, KERNELS[kernel], self._scaling)

    def _refitted(self, forecasts: Distribution, y: Array, w: Array) -> GPBetaCalibrator:
        """Common map and posterior from these rows only; hyperparameters and inducing points stay."""
        forecasts, y, w = distinct_rows(forecasts, y, w, self._copies)
        other = copy(self)
        other.quantile_ = self._first_map(forecasts, y, w)
        views, seen = other._views(forecasts, y, w)
        problem = self._problem(self.kernel_, views[self.kernel_], seen, self._inducing)
        other._posterior = _climbed(problem, self._hyperparameters, self._posterior).fit.posterior
        return other

    def _keep(self, problem: Problem, seen: Problem, learned: Learned) -> None:
        """The posterior on all rows, and what is told about the fit."""
        chosen, per_row = learned.hyperparameters, learned.bounds[-1] / seen.data.weights.sum()
        end = _climbed(problem, chosen, learned.posterior)
        if end.bounds[-1] / problem.data.weights.sum() < 0.5 * per_row:  # the rows learned from mislead
            plain = Hyperparameters.default(problem.kernel, problem.scaling)
            other = _climbed(problem, plain, Posterior.start(len(problem.inducing)))
            if other.bounds[-1] > end.bounds[-1]:
                end, chosen = other, plain
        penalty = problem.penalty(chosen.packed())[0]
        history = learned.bounds if len(seen.features) == len(problem.features) else []
        self.elbo_ = np.array([*history, *(bound - penalty for bound in end.bounds)])
        self.converged_ = end.converged and learned.converged
        self.kernel_ = problem.kernel.name
        self._hyperparameters, self._posterior, self._inducing = chosen, end.fit.posterior, problem.inducing
        if not self.converged_:
            warnings.warn(
                f"GPBetaCalibrator did not converge: the bound still rose by {np.diff(self.elbo_)[-1]:.2g} nats.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _latents(self, x: Array) -> tuple[Array, Array]:
        """Posterior means (3, n) and covariances (6, n) of ln a, ln b, c."""
        h = self._hyperparameters
        means, covers = [np.empty((3, 0))], [np.empty((6, 0))]
        for start in range(0, len(x), BLOCK):
            phi, left = whitened(self._kernel(), h.kernel, self._inducing, x[start : start + BLOCK])
            mean, cover, _ = latents(self._posterior, Prior(phi, left, h.root, h.shift))
            means.append(mean)
            covers.append(cover)
        return np.concatenate(means, axis=1), np.concatenate(covers, axis=1)

    def _map(self, forecasts: Distribution) -> AveragedBetaMap:
        mean, cover = self._latents(self._kernel().view(self._scaling, forecasts))
        root = np.zeros((mean.shape[1], 3, 3))
        for entry, (i, j) in zip(roots(cover), PAIRS, strict=True):
            root[:, j, i] = entry
        return AveragedBetaMap(np.ascontiguousarray(mean.T), root)

    def _check_sound(self) -> None:
        super()._check_sound()
        m = len(self._inducing)
        if self._posterior.mean.shape != (3, m) or self._posterior.cover.shape != (3 * m, 3 * m):
            raise ValueError(f"GPBetaCalibrator must have a posterior of its {m} inducing points.")
        check_finite(self, "_inducing", "span_")
        check_finite(self._posterior, "mean", "cover")
        check_finite(self._hyperparameters, "kernel", "root", "shift")
        if self._hyperparameters.root.shape != (3, 3) or self._hyperparameters.shift.shape != (3,):
            raise ValueError("GPBetaCalibrator must have hyperparameters of three latents.")

    def _transform(self, forecasts: Distribution) -> Distribution:
        fitted: Map = self._map(forecasts)
        heavy = self.heavy_tails_ or forecasts.has_heavy_tails
        return Recalibrated(self._mapped(forecasts), UnitTails(fitted, *self.span_) if heavy else fitted)

    def parameters(self, forecasts: Any) -> BetaParameters:
        """Posterior of a, b, c at these forecasts, with the inducing points (Song et al. 2019, fig. 2)."""
        check_is_fitted(self)
        view = self._kernel().view(self._scaling, self._read(forecasts))
        mean, std = _natural(*self._latents(view))
        return BetaParameters(mean, std, self.inducing_.copy(), _natural(*self._latents(self._inducing))[0])


def _shuffled(n: int, random_state: Any) -> NDArray[np.intp]:
    """At most 1 500 rows in random order; all of them, as they come, where none is to be left out."""
    if n <= FIRST_ROWS:
        return np.arange(n)
    rng = np.random.default_rng(0 if random_state is None else random_state)
    return rng.permutation(n)[:MOST_ROWS]


def _climbed(problem: Problem, h: Hyperparameters, start: Posterior) -> Climb:
    return climb(start, problem.prior(h), problem.data, gain=1e-7 * (1 + problem.data.weights.sum()), most=MOST_STEPS)


def _unlearned(problem: Problem) -> Learned:
    h = Hyperparameters.default(problem.kernel, problem.scaling)
    end = _climbed(problem, h, Posterior.start(len(problem.inducing)))
    penalty = problem.penalty(h.packed())[0]
    return Learned(h, end.fit.posterior, [bound - penalty for bound in end.bounds], end.converged, problem.inducing)


def _natural(mean: Array, cover: Array) -> tuple[Array, Array]:
    """Means and standard deviations (n, 3) of a, b (lognormal) and c from those of ln a, ln b, c."""
    middle, variance = mean.T.copy(), np.maximum(cover[[0, 3, 5]].T, 0.0)
    std = np.sqrt(variance)
    middle[:, :2] = np.exp(middle[:, :2] + 0.5 * variance[:, :2])
    std[:, :2] = middle[:, :2] * np.sqrt(np.expm1(variance[:, :2]))
    return middle, std
