"""What all nets share, whatever they read: how they are trained, where they live, how they are saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._checks import count, number
from ..numerics.soundness import check_finite
from .backend import Tensor, check_device, need_torch
from .scaling import Scaling
from .training import Plan


class Net(BaseEstimator, ABC):
    """A net, or several trained together.

    Parameters
    ----------
    max_epochs, batch_size : int
    learning_rate : float
        Of Adam.
    validation_fraction : float in [0, 1)
        Share of the rows that is held out for early stopping; of fewer than 1 / share rows none is, and all epochs run.
    patience : int
        Epochs without a better held-out loss after which training ends; the best weights are kept.
    random_state : int, generator or None
        None is 0: the same rows give the same net. Global generators are left alone.
    device : str
    verbose : bool
        Whether to show epochs on the standard error stream.
    """

    parameters_: dict[str, Any]
    inputs_: Scaling
    target_: Scaling
    seed_: int

    def __init__(
        self,
        *,
        max_epochs: int = 200,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        validation_fraction: float = 0.1,
        patience: int = 20,
        random_state: Any = None,
        device: str = "cpu",
        verbose: bool = False,
    ) -> None:
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    @abstractmethod
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters by name, members first; knows ``n_features_in_``."""

    def _decay(self) -> tuple[float, tuple[str, ...]]:
        r""":math:`\lambda` of a penalty :math:`\lambda\lVert\theta\rVert^2`, and the names of what it is on."""
        return 0.0, ()

    def _check(self) -> None:
        """Raise for parameters that cannot be."""
        for name in ("max_epochs", "batch_size", "patience"):
            count(getattr(self, name), name)
        number(self.learning_rate, "learning_rate", above=0.0)
        number(self.validation_fraction, "validation_fraction", least=0.0, below=1.0)

    def _plan(self) -> Plan:
        decay, decayed = self._decay()
        return Plan(
            max_epochs=self.max_epochs,
            batch_size=self.batch_size,
            learning_rate=float(self.learning_rate),
            patience=self.patience,
            decay=2 * decay,
            decayed=decayed,
            verbose=bool(self.verbose),
        )

    def _tensor(self, array: Any) -> Tensor:
        return need_torch().as_tensor(array, device=check_device(self.device))

    # ---- scikit-learn's contracts, and the store's ----
    def __sklearn_is_fitted__(self) -> bool:
        """Fitted once `fit` came to its end."""
        return hasattr(self, "n_rows_")

    def _check_sound(self) -> None:
        """Raise ValueError if what was learned cannot be: it may come from anywhere."""
        check_finite(self, "n_train_")
        if hasattr(self, "feature_names_in_") and len(self.feature_names_in_) != self.n_features_in_:
            raise ValueError(f"{type(self).__name__}.feature_names_in_ must name {self.n_features_in_} features.")
        found = {name: array.shape for name, array in self.parameters_.items()}
        if found != self._shapes():
            raise ValueError(f"{type(self).__name__}.parameters_ must have the shapes of its nets.")
        if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in self.parameters_.values()):
            raise ValueError(f"{type(self).__name__}.parameters_ must be finite numbers of single precision.")

    def _check_forecasts(self) -> None:
        """Sound parameters of finite nets make forecasts; trying them would need torch."""
        parts: list[Any] = [self.inputs_, self.target_]
        if not all(isinstance(part, Scaling) for part in parts):
            raise ValueError(f"{type(self).__name__} must have scalings of inputs and target.")
