"""What every link is: a correction of binary probabilities, many problems at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod

from scipy.special import log_expit

from .._checks import Array


class Link(ABC):
    """K functions c_k from the logit of a forecast probability to a calibrated one."""

    @abstractmethod
    def log_odds(self, logits: Array) -> Array:
        """Logits of the calibrated probabilities; ``logits`` is (n, K), one column per problem."""

    def log_probability(self, logits: Array) -> Array:
        """Logs of the calibrated probabilities, (n, K)."""
        return log_expit(self.log_odds(logits))
