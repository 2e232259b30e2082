"""Recurrent nets for series: forecasts of the next steps, read by dropout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import Array, choices, count, number, sample_weights
from .._types import Numbers, Weights
from ..distributions import Distribution, Ensemble, Normal
from .backend import Tensor, check_device, few_threads, generator_of, need_torch, seed_of
from .likelihood import mean_losses
from .mlp import start_mlp
from .net import Net
from .panels import (
    UNITS,
    Windows,
    described,
    from_units,
    inputs_of,
    read_covariates,
    read_series,
    sizes,
    to_units,
    windows,
)
from .passes import Passes
from .recurrent import draw_masks, gru_forward, gru_shapes
from .scaling import scaling_of_known
from .training import Parameters, Split, train

LAWS = ("samples", "normal")


class DropoutGRU(Net):
    r"""Forecast panels of series by a recurrent net with dropout, several steps ahead.

    A gated recurrent unit sees the last values of a series, whether they were seen, and what is known of the step to
    come (calendar, prices, promotions); it gives a mean and a variance. Dropout has one mask a sequence, the same at
    each time step on inputs and states (Gal & Ghahramani 2016b; Kuleshov et al. 2018, §4.1 and §4.4). Each of
    `n_passes` masks is a draw of the net. Forecasts are samples: a pass draws the first step, sees it as if it had
    happened, draws the second, and so on, so that a pass is a path that could come to be.

    Series are arrays side by side and not rows of X, because a forecast needs the past of its series and the known
    future together; `panel` makes them of a long table.

    Trained to make small, on the later half of windows of the series,

    .. math:: \tfrac12 e^{-s_t}(y_t - m_t)^2 + \tfrac12 s_t

    with means m and log variances s. The last `validation_fraction` of time is held out to stop early.

    Calibrate on forecasts of the past, better of steps that it was not trained on:
    ``cal = QuantileCalibrator().fit(model.backtest(series, steps=90), series[:, -90:].ravel())``, then
    ``cal.transform(model.predict_dist(series, horizon=7))``.

    How much do I need? A few hundred steps in all, better a thousand; many short series do as well as a long one.

    Parameters
    ----------
    window : int, default 28
        Steps of the past that a forecast looks back.
    lags : int, default 4
        Values of the past that are seen at each step.
    hidden, layers : int, default 64 and 2
    dropout : float in [0, 1), default 0.5
    units : {"mean", "log1p", "none"}, default "mean"
        How series are made alike: over their mean absolute value; as log(1 + y), for counts; or as they are. The size
        of a series is an input.
    n_passes : int, default 100
        Masks, and samples of a forecast.
    law : {"samples", "normal"}, default "samples"
        An `Ensemble` of the samples, or a `Normal` with their mean and deviation.
    max_epochs, batch_size, learning_rate, validation_fraction, patience, random_state, device, verbose
        As in `DropoutMLP`; rows are windows.

    Attributes
    ----------
    parameters_ : dict of arrays
    loss_curve_ : ndarray (epochs, 1)
        Held-out loss after each epoch.
    inputs_, target_ : Scaling
        How covariates and the log size of a series, and its values, are standardised.
    n_covariates_ : int
    n_rows_ : int
        Values that were learned from.
    n_train_ : float
        Those that were not held out, by weight.

    Examples
    --------
    >>> t = np.arange(120)
    >>> sales = 10 + 3 * np.sin(2 * np.pi * t / 7) + np.random.default_rng(0).normal(0, 0.5, (3, 120))
    >>> model = DropoutGRU(window=14, hidden=8, max_epochs=2, n_passes=20).fit(sales)
    >>> len(model.predict_dist(sales, horizon=7)), model.paths(sales, horizon=7).shape
    (21, (3, 20, 7))

    Differs from the paper in: the variance, which is an output of the net (the paper does not say where it comes from);
    early stopping; any covariates in place of indicators of weekday and week; sizes, rates of learning and the window,
    which it does not give; series of many kinds at once; samples in place of a normal law, unless ``law="normal"``.
    """

    def __init__(
        self,
        *,
        window: int = 28,
        lags: int = 4,
        hidden: int = 64,
        layers: int = 2,
        dropout: float = 0.5,
        units: str = "mean",
        n_passes: int = 100,
        law: str = "samples",
        max_epochs: int = 100,
        batch_size: int = 32,
        learning_rate: float = 3e-3,
        validation_fraction: float = 0.1,
        patience: int = 15,
        random_state: Any = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        super().__init__(
            max_epochs=max_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            validation_fraction=validation_fraction,
            patience=patience,
            random_state=random_state,
            device=device,
            verbose=verbose,
        )
        self.window = window
        self.lags = lags
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.units = units
        self.n_passes = n_passes
        self.law = law

    # ---- learning ----
    def fit(self, series: Numbers, covariates: Numbers | None = None, sample_weight: Weights = None) -> Self:
        """Train on all series together.

        Parameters
        ----------
        series : array-like (n_series, T) or (T,)
            NaN where a value is missing.
        covariates : array-like (n_series, T, k) or (T, k), optional
            What is known of each step beforehand; NaN counts as the mean.
        sample_weight : array-like (n_series,), optional
            Frequencies.
        """
        self._check()
        check_device(self.device)
        values = read_series(series)
        known = read_covariates(covariates, *values.shape)
        weights = sample_weights(sample_weight, len(values))
        weights = np.ones(len(values)) if weights is None else weights
        values, known, weights = values[weights > 0], known[weights > 0], weights[weights > 0]
        cut = values.shape[1] - int(self.validation_fraction * values.shape[1])
        self.n_covariates_, self.seed_ = known.shape[2], seed_of(self.random_state)
        inputs, targets = self._learn_scales(values, known, weights, cut)
        parts = [windows(inputs, targets, self.window, *ends) for ends in ((0, cut), (cut, values.shape[1]))]
        kept, held = (_with_targets(part, weights) for part in parts)
        if not len(kept[0].inputs):
            raise ValueError("`series` must have values before the part of time that is held out; there are none.")
        with few_threads(self.batch_size * sum(map(prod, self._shapes().values()))):
            parameters, history = self._trained_on(kept, held)
        self.parameters_ = {name: tensor.cpu().numpy().copy() for name, tensor in parameters.items()}
        self.loss_curve_, self.n_train_ = np.array(history), float(kept[1].sum())
        self.n_rows_ = int(np.isfinite(values).sum())
        return self

    def _learn_scales(self, values: Array, known: Array, weights: Array, cut: int) -> tuple[Any, Array]:
        """Inputs and standardised targets; scales are those of the steps before the cut."""
        size = sizes(values[:, :cut])
        units = to_units(values, self.units, size)
        self.inputs_ = scaling_of_known(described(known, size)[:, :cut], weights)
        self.target_ = scaling_of_known(units[:, :cut, None], weights)
        return self._standardised(values, known, size)

    def _standardised(self, values: Array, known: Array, size: Array) -> tuple[Any, Array]:
        """Inputs (n, steps, features) and values (n, T) as the net has them."""
        units = self.target_(to_units(values, self.units, size)[..., None])[..., 0]
        return inputs_of(units, self.inputs_(described(known, size)), self.lags), units

    def _trained_on(self, kept: tuple[Windows, Array], held: tuple[Windows, Array]) -> tuple[Parameters, Any]:
        torch = need_torch()
        generator = generator_of(self.seed_, check_device(self.device))
        x, y, on = (self._tensor(np.concatenate(pair)) for pair in zip(kept[0], held[0], strict=True))
        mass = np.concatenate([kept[1], held[1]])
        rows = torch.arange(len(mass), device=generator.device)[None]
        first, last = rows[:, : len(kept[1])], rows[:, len(kept[1]) :]
        split = Split(first, last, self._tensor((mass / kept[1].mean()).astype(np.float32)))
        parameters = start_mlp(self._shapes(), generator)

        def losses(numbers: Tensor, training: bool) -> Tensor:
            masks = draw_masks(parameters, numbers.shape[1], self.dropout, generator) if training else None
            outputs, _ = gru_forward(parameters, x[numbers], masks)
            return mean_losses(outputs, y[numbers], on[numbers])

        return train(parameters, losses, split, self._plan(), generator)

    # ---- forecasting ----
    def predict_dist(self, series: Numbers, covariates: Numbers | None = None, horizon: int = 1) -> Distribution:
        """Forecasts of the next steps: ``n_series * horizon`` rows, all steps of the first series first.

        Parameters
        ----------
        series : array-like (n_series, T) or (T,)
            The past, any series; NaN where missing.
        covariates : array-like (n_series, T + horizon, k) or (T + horizon, k)
            Where `fit` had some.
        horizon : int
        """
        return self._law(self.paths(series, covariates, horizon).swapaxes(1, 2))

    def predict(self, series: Numbers, covariates: Numbers | None = None, horizon: int = 1) -> Array:
        """Means of the next steps, (n_series, horizon); see `predict_dist`."""
        return np.asarray(self.paths(series, covariates, horizon).mean(axis=1))

    def paths(self, series: Numbers, covariates: Numbers | None = None, horizon: int = 1) -> Array:
        """Samples of the next steps, (n_series, n_passes, horizon): each pass a path; see `predict_dist`."""
        values, known = self._past(series, covariates, count(horizon, "horizon"))
        now, size = values.shape[1], sizes(values)
        inputs, _ = self._standardised(values, known, size)
        seen = windows(inputs, np.zeros(inputs.shape[:2]), self.window, now, now + 1).inputs
        with self._reader(self.window) as read:
            drawn = [read.ahead(seen[rows], inputs[rows, now:], self.lags) for rows in read.blocks(len(seen))]
        return self._original(np.concatenate(drawn), size).swapaxes(1, 2)

    def backtest(self, series: Numbers, covariates: Numbers | None = None, *, steps: int = 1) -> Distribution:
        """Forecasts of the last steps, each from all values before it: ``n_series * steps`` rows.

        All steps of the first series come first; the outcomes are ``series[:, -steps:].ravel()``.

        Parameters
        ----------
        series, covariates
            As in `fit`.
        steps : int
        """
        values, known = self._past(series, covariates, 0)
        (n, length), ahead = values.shape, count(steps, "steps")
        if ahead >= length:
            raise ValueError(f"`steps` must be less than the {length} steps of the series; got {steps}.")
        size = sizes(values[:, :-ahead])
        inputs, _ = self._standardised(values, known, size)
        rows = windows(inputs, np.zeros(values.shape), self.window, length - ahead, length)
        with self._reader(self.window) as read:
            drawn = np.concatenate([read.each(rows.inputs[block]) for block in read.blocks(len(rows.inputs))])
        asked = rows.weights.reshape(n, -1)[0] > 0
        return self._law(self._original(drawn.reshape(n, -1, self.n_passes)[:, asked], size))

    def _past(self, series: Any, covariates: Any, ahead: int) -> tuple[Array, Array]:
        check_is_fitted(self)
        values = read_series(series)
        known = read_covariates(covariates, len(values), values.shape[1] + ahead)
        if known.shape[2] != self.n_covariates_:
            raise ValueError(f"`covariates` must be {self.n_covariates_} a step, as in fit; got {known.shape[2]}.")
        return values, known

    @contextmanager
    def _reader(self, steps: int) -> Iterator[Passes]:
        """What draws, with the same masks whatever is forecast."""
        generator = generator_of(self.seed_, check_device(self.device))
        parameters = {name: self._tensor(array) for name, array in self.parameters_.items()}
        with (
            few_threads(self.n_passes * sum(array.size for array in self.parameters_.values())),
            need_torch().no_grad(),
        ):
            yield Passes.of(parameters, self.n_passes, self.dropout, generator, steps * 3 * self.hidden)

    def _original(self, drawn: Array, size: Array) -> Array:
        """Samples in the units of the series; the first axis is series."""
        return from_units(drawn * self.target_.scale + self.target_.mean, self.units, size[:, None, None])

    def _law(self, samples: Array) -> Distribution:
        rows = samples.reshape(-1, self.n_passes)
        return Ensemble(rows) if self.law == "samples" else Normal(rows.mean(axis=1), rows.std(axis=1, ddof=1))

    # ---- contracts ----
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return gru_shapes(2 * self.lags + self.n_covariates_ + 1, self.hidden, self.layers)

    def _check(self) -> None:
        super()._check()
        for name in ("window", "lags", "hidden", "layers"):
            count(getattr(self, name), name)
        count(self.n_passes, "n_passes", 2)
        number(self.dropout, "dropout", least=0.0, below=1.0)
        choices(units=(self.units, UNITS), law=(self.law, LAWS))

    def _check_sound(self) -> None:
        self._check()
        super()._check_sound()
        if self.inputs_.mean.shape != (self.n_covariates_ + 1,) or self.target_.mean.shape != (1,):
            raise ValueError("DropoutGRU must have a scaling of each covariate, of the sizes and of the target.")


def _with_targets(rows: Windows, weights: Array) -> tuple[Windows, Array]:
    """Windows that have something to forecast, and how much that weighs."""
    mass = rows.weights.sum(axis=1) * np.repeat(weights, len(rows.weights) // len(weights))
    some = mass > 0
    return Windows(*(part[some] for part in rows)), mass[some]
