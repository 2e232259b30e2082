"""Deep ensembles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import Array, count, number
from ..distributions import Distribution
from .backend import Tensor, need_torch
from .feed_forward import FeedForward, normal_losses
from .mlp import forward
from .scaling import Scaling
from .training import Parameters

LEAST = 1e-6  # variance of the standardised target


class DeepEnsemble(FeedForward):
    r"""Nets that differ by their random start and order of rows, each stating a mean and a variance.

    Each minimises the mean of

    .. math:: \tfrac12\log \sigma^2(x) + \frac{(y - \mu(x))^2}{2\sigma^2(x)},\qquad
              \sigma^2 = \log(1 + e^{o}) + 10^{-6}

    (Lakshminarayanan, Pritzel and Blundell 2017), with o its second output; the forecast is the mixture
    :math:`\frac1M\sum_m N(\mu_m, \sigma_m^2)`. All are trained at once, as one batch of matrices.

    Parameters
    ----------
    n_members : int, default 5
    hidden : sequence of int, default (128, 128)
        Widths of the hidden layers.
    adversarial : float, default 0.0
        :math:`\epsilon`, as a share of the range of each feature (0.01 in the paper): where it is not 0, each row is
        also learned from at :math:`x + \epsilon\operatorname{sign}\nabla_x\ell(x, y)`.
    activation : {"relu", "prelu"}, default "relu"
    law : {"mixture", "normal"}, default "mixture"
        "normal" has the mean and the variance of the mixture.
    max_epochs, batch_size : int, default 200 and 64
    learning_rate : float, default 1e-3
        Of Adam.
    validation_fraction : float in [0, 1), default 0.1
        Share of the rows, drawn for each net, that is held out for early stopping; of fewer than 1 / share rows none
        is, and all epochs run.
    patience : int, default 20
        Epochs without a better held-out loss after which a net is finished; its best weights are kept.
    random_state : int, generator or None
        Of weights and batches; None is 0. Global generators are left alone.
    device : str, default "cpu"
        Or "cuda".
    verbose : bool, default False
        Whether to show epochs on the standard error stream.

    Attributes
    ----------
    parameters_ : dict of ndarray
        Weights (n_members, inputs, outputs) and biases (n_members, 1, outputs) of each layer.
    loss_curve_ : ndarray (epochs, n_members)
        Held-out loss after each epoch; in training, where no row was held out.
    inputs_, target_ : Scaling
        How they are standardised.
    n_rows_ : int
        Rows that were learned from.
    n_train_ : float
        Those that a net was trained on, by weight.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray (n_features,)
        Names of the features, if all are strings.

    Notes
    -----
    Differs from the paper in: the mixture itself is the forecast, not the normal law with its moments
    (``law="normal"``); two layers of 128 units, not one of 50; early stopping, with rows held out for each net;
    inputs and target are standardised; adversarial rows only on request.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = X[:, 0] + np.exp(X[:, 0]) * rng.normal(size=200)
    >>> model = DeepEnsemble(hidden=(32, 32), max_epochs=60).fit(X, y)
    >>> law = model.predict_dist([[-1.0], [1.0]])
    >>> low, high = law.std()
    >>> len(law.components), bool(low < high)
    (5, True)
    """

    def __init__(
        self,
        n_members: int = 5,
        hidden: Sequence[int] = (128, 128),
        *,
        adversarial: float = 0.0,
        activation: str = "relu",
        law: str = "mixture",
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
        self.n_members = n_members
        self.hidden = hidden
        self.adversarial = adversarial
        self.activation = activation
        self.law = law

    def _check(self) -> None:
        super()._check()
        count(self.n_members, "n_members")
        number(self.adversarial, "adversarial", least=0.0)

    def _members(self) -> int:
        return self.n_members

    @property
    def _shares_training(self) -> bool:
        return not self.adversarial  # which knows the ranges of its own features

    def _scales(self, X: Array, y: Array, weights: Array) -> tuple[Scaling, Scaling]:
        inputs, target = super()._scales(X, y, weights)
        self.ranges_ = np.ptp(inputs(X), axis=0)
        return inputs, target

    def _row_losses(self, parameters: Parameters, x: Tensor, y: Tensor, generator: Any) -> Tensor:
        if generator is None or not self.adversarial:
            return _losses(parameters, x, y)
        losses = _losses(parameters, x.requires_grad_(True), y)
        [slope] = need_torch().autograd.grad(losses.sum(), x, retain_graph=True)
        moved = x.detach() + self.adversarial * self._tensor(self.ranges_) * slope.sign()
        return losses + _losses(parameters, moved, y)

    def _law(self, X: Array) -> Distribution:
        torch = need_torch()

        def moments(parameters: Parameters, x: Tensor) -> Tensor:
            outputs = forward(parameters, x.expand(self.n_members, -1, -1))
            return torch.stack([outputs[..., 0], _variance(outputs)], dim=-1)

        mean, var = np.moveaxis(self._outputs(X, moments, self._activations()), -1, 0)
        return self._of_components(mean, var)


def _losses(parameters: Parameters, x: Tensor, y: Tensor) -> Tensor:
    outputs = forward(parameters, x)
    return normal_losses(y, outputs[..., 0], _variance(outputs))


def _variance(outputs: Tensor) -> Tensor:
    return need_torch().nn.functional.softplus(outputs[..., 1]) + LEAST
