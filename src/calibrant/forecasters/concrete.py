"""Concrete dropout."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
from scipy.special import expit

from .._checks import Array, count, number
from ..distributions import Distribution
from .backend import Tensor, generator_of, need_torch
from .feed_forward import FeedForward, normal_losses
from .mlp import forward
from .training import Parameters

TEMPERATURE = 0.1  # of the concrete distribution
START = 0.1  # of the rates
LEAST, MOST = -14.0, 14.0  # logarithms of variances of the standardised target


class ConcreteDropoutMLP(FeedForward):
    r"""A net that learns how much to drop in each layer, and states the variance of each row.

    Outputs are a mean and a log variance. With inputs h of layer l, of which there are :math:`K_l`, replaced by

    .. math:: \frac{h\,(1 - \tilde z)}{1 - p_l},\qquad \tilde z = \operatorname{sigmoid}\Big(\frac1t
              \Big(\log\frac{p_l}{1-p_l} + \log\frac{u}{1-u}\Big)\Big),\quad u \sim U(0, 1),\ t = 0.1

    training minimises over weights and rates p the mean of the negative log likelihoods, and

    .. math:: \frac1N\sum_l\Big(\frac{\ell^2}{2}\frac{\lVert W_l\rVert^2}{1-p_l} - K_l H(p_l)\Big),\qquad
              H(p) = -p\log p - (1-p)\log(1-p)

    (Gal, Hron and Kendall 2017; their M is :math:`W/(1-p)`). Of S passes with means :math:`\mu_s` and
    variances :math:`\sigma_s^2` the forecast is normal, with mean :math:`\bar\mu` and variance
    :math:`\frac1S\sum_s (\sigma_s^2 + (\mu_s - \bar\mu)^2)`; ``law="mixture"`` keeps the passes apart.

    Parameters
    ----------
    hidden : sequence of int, default (128, 128)
        Widths of the hidden layers.
    n_passes : int, default 100
        Passes S, all made at once.
    length_scale : float, default 0.01
        :math:`\ell` of the prior.
    activation : {"relu", "prelu"}, default "relu"
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
    rates_ : ndarray (layers,)
        Learned dropout rates: of the inputs, and of each hidden layer.
    parameters_ : dict of ndarray
        Weights (1, inputs, outputs) and biases (1, 1, outputs) of each layer, and logits of the rates (1, layers).
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
    Differs from the paper in: mean and log variance share the units that are dropped before them; a pass drops the
    same units for all rows, so it is one function; early stopping on held-out rows, where nothing is dropped; log
    variances are kept within ±14 of the standardised target.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = X[:, 0] + np.exp(X[:, 0]) * rng.normal(size=200)
    >>> model = ConcreteDropoutMLP(hidden=(32, 32), max_epochs=60).fit(X, y)
    >>> low, high = model.predict_dist([[-1.0], [1.0]]).std()
    >>> bool(low < high), model.rates_.shape
    (True, (3,))
    """

    def __init__(
        self,
        hidden: Sequence[int] = (128, 128),
        *,
        n_passes: int = 100,
        length_scale: float = 0.01,
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
        self.n_passes = n_passes
        self.length_scale = length_scale
        self.activation = activation
        self.law = law

    def _check(self) -> None:
        super()._check()
        count(self.n_passes, "n_passes")
        number(self.length_scale, "length_scale", above=0.0)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {**super()._shapes(), "logit": (self._members(), len(self.hidden) + 1)}

    def _start(self, generator: Any) -> Parameters:
        shape = self._shapes()["logit"]
        logit = need_torch().full(shape, log(START / (1 - START)), device=generator.device)
        return {**super()._start(generator), "logit": logit}

    @property
    def rates_(self) -> Array:
        """Learned dropout rates, of the inputs and of each hidden layer."""
        return np.asarray(expit(self.parameters_["logit"][0].astype(np.float64)))

    def _row_losses(self, parameters: Parameters, x: Tensor, y: Tensor, generator: Any) -> Tensor:
        widths = self._widths()[:-1]
        factors = [] if generator is None else concrete_factors(parameters["logit"], x.shape[1:2], widths, generator)
        outputs = forward(parameters, x, factors)
        return normal_losses(y, outputs[..., 0], _variance(outputs))

    def _penalty(self, parameters: Parameters, rows: Tensor) -> Tensor:
        return concrete_penalty(parameters, self.length_scale) / rows

    def _law(self, X: Array) -> Distribution:
        torch = need_torch()
        logit = torch.as_tensor(self.parameters_["logit"], device=self.device)
        generator = generator_of(self.seed_ + 1, self.device)
        factors = concrete_factors(logit, (self.n_passes, 1), self._widths()[:-1], generator)

        def moments(parameters: Parameters, x: Tensor) -> Tensor:
            outputs = forward(parameters, x[:, None], factors)
            return torch.stack([outputs[..., 0], _variance(outputs)], dim=-1)

        mean, var = np.moveaxis(self._outputs(X, moments, self._activations(self.n_passes))[0], -1, 0)
        return self._of_components(mean, var)


def _variance(outputs: Tensor) -> Tensor:
    return outputs[..., 1].clamp(LEAST, MOST).exp()


def concrete_factors(logit: Tensor, axes: Sequence[int], widths: Sequence[int], generator: Any) -> list[Tensor | None]:
    r"""Factors :math:`(1-\tilde z)/(1-p)` of what goes into each layer, (members, \*axes, width); logits by layer."""
    torch = need_torch()
    members, found = len(logit), []
    for layer, width in enumerate(widths):
        rate = logit[:, layer].reshape(members, *[1] * (len(axes) + 1))
        uniform = torch.rand((members, *axes, width), generator=generator, device=generator.device)
        kept = torch.sigmoid(-(rate + torch.logit(uniform, eps=1e-7)) / TEMPERATURE)
        found.append(kept * (1 + rate.exp()))  # 1 / (1 - p)
    return found


def concrete_penalty(parameters: Parameters, length_scale: float) -> Tensor:
    r""":math:`\sum_l \frac{\ell^2}{2}\frac{\lVert W_l\rVert^2}{1-p_l} - K_l H(p_l)`, (members,)."""
    torch = need_torch()
    logit = parameters["logit"]
    kept, dropped = torch.sigmoid(-logit), torch.sigmoid(logit)
    entropy = torch.nn.functional.softplus(logit) - dropped * logit
    weights = [parameters[f"weight{layer}"] for layer in range(logit.shape[1])]
    norms = torch.stack([weight.square().sum(dim=(1, 2)) for weight in weights], dim=1)
    inputs = logit.new_tensor([weight.shape[1] for weight in weights])
    return (0.5 * length_scale**2 * norms / kept - inputs * entropy).sum(dim=1)
