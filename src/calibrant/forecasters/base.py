"""Nets that read rows: standardising, training, forecasting in blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from math import prod
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import Array, index_of, is_finite, sample_weights
from ..distributions import Distribution
from ..numerics.blocks import row_blocks
from .backend import Tensor, check_device, few_threads, repeatable, seed_of, tensor_of
from .net import Net
from .scaling import Scaling
from .together import Table, train_together
from .training import Parameters, held_of

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

    @property
    def _shares_training(self) -> bool:
        """Whether the loss of rows needs nothing but parameters, rows and noise."""
        return True

    def _penalty(self, parameters: Parameters, rows: Tensor) -> Tensor | None:
        """What is added to the mean loss, (members,); ``rows`` (members,) are trained on."""
        return None

    def _scales(self, X: Array, y: Array, weights: Array) -> tuple[Scaling, Scaling]:
        """How inputs and target are standardised."""
        return Scaling.of(X, weights), Scaling.of(y[..., None], weights)

    def _work(self, X: Array) -> float:
        """Multiplications that a row takes in one pass."""
        return float(sum(map(prod, self._shapes().values())))

    def _read(self, X: Any, y: Any = None) -> Any:
        """Rows as float64, with targets where there are some; remembers the features in `fit`."""
        if y is not None:
            return validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        return X if self._is_read(X) else validate_data(self, X, reset=False, dtype=np.float64)

    def _is_read(self, X: Any) -> bool:
        """Whether nothing is to be done or said: for a row or two, looking closely takes longer than forecasting."""
        if type(X) is not np.ndarray or X.dtype != np.float64 or hasattr(self, "feature_names_in_"):
            return False
        return X.shape[1:] == (self.n_features_in_,) and len(X) > 0 and is_finite(X)

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
        train_together([self], [self._begun(X, y, sample_weight)])
        return self

    def _begun(self, X: Any, y: Any, sample_weight: Any) -> Table:
        """Checked rows of weight above 0, after which they are standardised."""
        self._check()
        check_device(self.device)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X, y = self._read(X, y)
        weights = sample_weights(sample_weight, len(y))
        weights = np.ones(len(y)) if weights is None else weights
        there = weights > 0
        table = Table(X[there], np.asarray(y, dtype=np.float64)[there], weights[there])
        self.inputs_, self.target_ = self._scales(*table)
        self.seed_ = seed_of(self.random_state)
        return table

    def _trained_on(self, table: Table) -> float:
        """Rows that are not held out, by weight."""
        rows = len(table.y)
        return float(table.weights.sum()) * (rows - held_of(rows, self.validation_fraction)) / rows

    def _finish(self, parameters: Parameters, losses: Array, table: Table) -> None:
        """Keep what was learned: parameters, and the losses (epochs, members)."""
        self.loss_curve_, self.n_train_ = losses, self._trained_on(table)
        self.parameters_ = {name: tensor.cpu().numpy().copy() for name, tensor in parameters.items()}
        finite = all(np.isfinite(array).all() for array in self.parameters_.values())
        if not (finite and np.isfinite(losses).any(axis=0).all()):
            raise ValueError(
                f"training went astray: `learning_rate` {self.learning_rate!r} is too large for these rows."
            )
        self.n_rows_ = len(table.y)

    def predict_dist(self, X: Any) -> Distribution:
        """Forecasts of the rows of X; a pandas index is kept."""
        if "parameters_" not in vars(self):  # scikit-learn takes its time to say so
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
        device = check_device(self.device)
        parameters = {name: tensor_of(array, device) for name, array in self.parameters_.items()}
        block = _BLOCK if device.type == "cpu" else _DEVICE_BLOCK
        steps = max(width, min(len(X) * width, block)) * max(array.shape[-1] for array in self.parameters_.values())
        with few_threads(steps), repeatable(device):  # nothing here asks for slopes
            blocks = (tensor_of(self.inputs_(X[rows]), device) for rows in row_blocks(len(X), width, block))
            found = [forward(parameters, x.unsqueeze(0)).double().cpu().numpy() for x in blocks]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-2)
