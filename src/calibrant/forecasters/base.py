"""Nets that read rows: standardising, training, forecasting in blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from math import prod
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import Array, index_of, sample_weights
from ..distributions import Distribution
from ..numerics.blocks import row_blocks
from .backend import Tensor, check_device, few_threads, generator_of, need_torch, seed_of
from .net import Net
from .scaling import Scaling
from .training import Parameters, Split, split_of, train

_BLOCK = 2**18  # activations of one layer that are held together in forecasts: they stay in the cache
_DEVICE_BLOCK = 2**25  # on a GPU, which has more room and less patience


class NetRegressor(RegressorMixin, Net):
    """A net, or several trained together, whose predictions are distributions.

    A subclass gives the shapes of its parameters (members first), how they start, the loss of rows and the law of its
    outputs; it may read other inputs than tables, and add a penalty.
    """

    # ---- what a net gives ----
    @abstractmethod
    def _start(self, generator: Any) -> Parameters:
        """Parameters before training."""

    @abstractmethod
    def _row_losses(self, parameters: Parameters, x: Tensor, y: Tensor, generator: Any) -> Tensor:
        """Losses (members, b) of standardised rows x (members, b, ...) and targets y (members, b).

        ``generator`` is for the noise of training, and None where rows are judged.
        """

    @abstractmethod
    def _law(self, X: Array) -> Distribution:
        """Forecasts of checked rows."""

    def _members(self) -> int:
        return 1

    def _penalty(self, parameters: Parameters, rows: float) -> Tensor | None:
        """What is added to the mean loss, (members,); ``rows`` are trained on."""
        return None

    def _scales(self, X: Array, y: Array, weights: Array) -> tuple[Scaling, Scaling]:
        """How inputs and target are standardised."""
        return Scaling.of(X, weights), Scaling.of(y[..., None], weights)

    def _work(self, X: Array) -> float:
        """Multiplications that a row takes in one pass."""
        return float(sum(map(prod, self._shapes().values())))

    def _read(self, X: Any, y: Any = None) -> Any:
        """Rows as float64, with targets where there are some; remembers the features in `fit`."""
        if y is None:
            return validate_data(self, X, reset=False, dtype=np.float64)
        return validate_data(self, X, y, dtype=np.float64, y_numeric=True)

    # ---- what is done with it ----
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train.

        Parameters
        ----------
        X : array-like or frame (n, n_features)
        y : array-like (n,)
        sample_weight : array-like (n,), optional
            Frequencies.
        """
        self._check()
        check_device(self.device)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X, y = self._read(X, y)
        weights = sample_weights(sample_weight, len(y))
        weights = np.ones(len(y)) if weights is None else weights
        X, y, weights = X[weights > 0], np.asarray(y, dtype=np.float64)[weights > 0], weights[weights > 0]
        self.inputs_, self.target_ = self._scales(X, y, weights)
        self.seed_ = seed_of(self.random_state)
        with few_threads(self.batch_size * self._work(X)):
            parameters, self.loss_curve_ = self._trained(X, y, weights)
        self.parameters_ = {name: tensor.cpu().numpy().copy() for name, tensor in parameters.items()}
        finite = all(np.isfinite(array).all() for array in self.parameters_.values())
        if not (finite and np.isfinite(self.loss_curve_).any(axis=0).all()):
            raise ValueError(
                f"training went astray: `learning_rate` {self.learning_rate!r} is too large for these rows."
            )
        self.n_rows_ = len(y)
        return self

    def _trained(self, X: Array, y: Array, weights: Array) -> tuple[Parameters, Array]:
        """Parameters, and the losses (epochs, members)."""
        generator = generator_of(self.seed_, check_device(self.device))
        x, t = self._tensor(self.inputs_(X)), self._tensor(self.target_(y[..., None])[..., 0])
        kept, held = split_of(len(y), self.validation_fraction, self._members(), generator)
        split = Split(kept, held, self._tensor((weights / weights.mean()).astype(np.float32)))
        parameters = self._start(generator)
        rows = float(weights.sum()) * kept.shape[1] / len(y)
        self.n_train_ = rows

        def losses(numbers: Tensor, training: bool) -> Tensor:
            return self._row_losses(parameters, x[numbers], t[numbers], generator if training else None)

        penalised = self._penalty(parameters, rows) is not None
        penalty = (lambda: self._penalty(parameters, rows)) if penalised else None
        best, history = train(parameters, losses, split, self._plan(), generator, penalty)
        return best, np.array(history)

    def predict_dist(self, X: Any) -> Distribution:
        """Forecasts of the rows of X; a pandas index is kept."""
        check_is_fitted(self)
        law = self._law(self._read(X))
        index = index_of(X)
        if index is not None:
            object.__setattr__(law, "_index", index)
        return law

    def predict(self, X: Any) -> Array:
        """Means of the forecasts, (n,)."""
        return self.predict_dist(X).mean()

    def _outputs(self, X: Array, forward: Callable[[Parameters, Tensor], Tensor], width: int) -> Array:
        """What ``forward`` makes of standardised rows (1, b, ...), (..., n, outputs), in blocks that bound memory.

        ``width`` is the number of activations of a row in the widest layer, over all members and passes.
        """
        torch = need_torch()
        parameters = {name: self._tensor(array) for name, array in self.parameters_.items()}
        block = _BLOCK if check_device(self.device).type == "cpu" else _DEVICE_BLOCK
        steps = max(width, min(len(X) * width, block)) * max(array.shape[-1] for array in self.parameters_.values())
        with few_threads(steps), torch.no_grad():
            blocks = (self._tensor(self.inputs_(X[rows]))[None] for rows in row_blocks(len(X), width, block))
            return np.concatenate([forward(parameters, x).double().cpu().numpy() for x in blocks], axis=-2)
