"""Monte Carlo dropout."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .._checks import Array, count, number
from ..distributions import Distribution
from .backend import Tensor, generator_of
from .feed_forward import FeedForward, drop
from .mlp import forward
from .training import Parameters


class DropoutMLP(FeedForward):
    r"""A net with dropout, left on when it forecasts: each pass is a draw from the approximate posterior.

    Training minimises, over N rows, with units of the hidden layers dropped with probability p,

    .. math:: \frac1N\sum_i \tfrac12 (y_i - \hat y_i)^2 + \lambda\sum_l (\lVert W_l\rVert^2 + \lVert b_l\rVert^2)

    (Gal and Ghahramani 2016). Of S passes :math:`\hat y^{(s)}` the forecast is

    .. math:: N\Big(\bar y,\ \tau^{-1} + \frac1S\sum_s (\hat y^{(s)} - \bar y)^2\Big),\qquad
              \tau = \frac{\ell^2(1-p)}{2N\lambda}

    a normal law with the mean and the variance of the passes, as in Kuleshov et al. (2018), §3.3;
    ``law="mixture"`` keeps the passes apart, :math:`\frac1S\sum_s N(\hat y^{(s)}, \tau^{-1})`. Inputs and target are
    standardised, and :math:`\tau` is the precision of the standardised target.

    The noise :math:`\tau^{-1} = 2N\lambda/\ell^2(1-p)` grows with N as long as :math:`\lambda` does not fall: beyond
    2 500 rows the defaults state more noise than the target varies. Calibrate, or give `precision`. In
    ``CalibratedRegressor(DropoutMLP(), ensemble=False)`` the model of all rows states more noise than those of the
    folds, from which the calibrator learned; with ``ensemble=True`` or a `precision` it does not.

    Parameters
    ----------
    hidden : sequence of int, default (128, 128)
        Widths of the hidden layers.
    dropout : float in [0, 1), default 0.5
    n_passes : int, default 100
        Passes S, all made at once; what each drops is drawn by the first forecast, and remembered.
    weight_decay : float, default 1e-4
        :math:`\lambda`.
    length_scale : float, default 1.0
        :math:`\ell` of the prior.
    precision : float, optional
        :math:`\tau`, where it is known better than by the formula.
    activation : {"relu", "prelu"}, default "relu"
        "prelu" learns the slope of each layer below 0 (Kuleshov et al. 2018, §4.1).
    law : {"normal", "mixture"}, default "normal"
    max_epochs, batch_size : int, default 200 and 64
    learning_rate : float, default 1e-3
        Of Adam.
    validation_fraction : float in [0, 1), default 0.1
        Share of the rows that is held out for early stopping; of fewer than 1 / share rows none is, and all epochs run.
    patience : int, default 20
        Epochs without a better held-out loss after which training ends; the best weights are kept.
    random_state : int, generator or None
        Of weights, batches and dropout; None is 0. Global generators are left alone.
    device : str, default "cpu"
        Or "cuda".
    verbose : bool, default False
        Whether to show epochs on the standard error stream.

    Attributes
    ----------
    precision_ : float
        :math:`\tau`.
    parameters_ : dict of ndarray
        Weights (1, inputs, outputs) and biases (1, 1, outputs) of each layer.
    loss_curve_ : ndarray (epochs, 1)
        Held-out loss after each epoch; in training, where no row was held out.
    inputs_, target_ : Scaling
        How they are standardised.
    n_rows_ : int
        Rows that were learned from.
    n_train_ : float
        N: those that were not held out, by weight.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray (n_features,)
        Names of the features, if all are strings.

    Notes
    -----
    Differs from the paper in: a pass drops the same units for all rows, so it is one function and forecasts do not
    depend on what else is forecast (in training each row has its own draw); inputs are not dropped; early stopping on
    held-out rows, where nothing is dropped; :math:`\tau` follows from :math:`\lambda`, not :math:`\lambda` from a
    searched :math:`\tau`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=200)
    >>> model = DropoutMLP(hidden=(32, 32), max_epochs=60).fit(X, y)
    >>> model.precision_, model.predict_dist(X[:3])
    (13.9, Normal(n=3))
    """

    _n_outputs = 1

    def __init__(
        self,
        hidden: Sequence[int] = (128, 128),
        *,
        dropout: float = 0.5,
        n_passes: int = 100,
        weight_decay: float = 1e-4,
        length_scale: float = 1.0,
        precision: float | None = None,
        activation: str = "relu",
        law: str = "normal",
        max_epochs: int = 200,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        validation_fraction: float = 0.1,
        patience: int = 20,
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
        self.hidden = hidden
        self.dropout = dropout
        self.n_passes = n_passes
        self.weight_decay = weight_decay
        self.length_scale = length_scale
        self.precision = precision
        self.activation = activation
        self.law = law

    def _check(self) -> None:
        super()._check()
        number(self.dropout, "dropout", least=0.0, below=1.0)
        count(self.n_passes, "n_passes")
        number(self.length_scale, "length_scale", above=0.0)
        if self.precision is None:
            number(self.weight_decay, "weight_decay", above=0.0)
        else:
            number(self.weight_decay, "weight_decay", least=0.0)
            number(self.precision, "precision", above=0.0)

    def _decay(self) -> tuple[float, tuple[str, ...]]:
        return float(self.weight_decay), tuple(name for name in self._shapes() if not name.startswith("slope"))

    def _row_losses(self, parameters: Parameters, x: Tensor, y: Tensor, generator: Any) -> Tensor:
        factors = () if generator is None else _factors(x.shape[:2], self.hidden, self.dropout, generator)
        return 0.5 * (y - forward(parameters, x, factors)[..., 0]).square()

    @property
    def precision_(self) -> float:
        r""":math:`\tau`."""
        if self.precision is not None:
            return float(self.precision)
        return float(self.length_scale**2 * (1 - self.dropout) / (2 * self.n_train_ * self.weight_decay))

    def _law(self, X: Array) -> Distribution:
        mean = self._passes(X)
        return self._of_components(mean, np.full((1, 1), 1 / self.precision_))

    def _passes(self, X: Array) -> Array:
        """Outputs of all passes, (n_passes, n), of the standardised target."""
        factors = _factors_of_passes(self.seed_ + 1, self.n_passes, tuple(self.hidden), self.dropout, self.device)
        width = self._activations(self.n_passes)
        return self._outputs(X, lambda parameters, x: forward(parameters, x.unsqueeze(1), factors), width)[0, ..., 0]


Factors = tuple[Tensor | None, ...]


def _factors(axes: Sequence[int], widths: Sequence[int], rate: float, generator: Any) -> Factors:
    """Factors of what goes into each layer; the inputs have none."""
    return None, *(drop((*axes, width), rate, generator) for width in widths)


@lru_cache(maxsize=4)
def _factors_of_passes(seed: int, passes: int, widths: tuple[int, ...], rate: float, device: Any) -> Factors:
    """Of all forecasts of a net: drawn once, for they are a good part of the work where rows come one by one."""
    return _factors((1, passes, 1), widths, rate, generator_of(seed, device))
