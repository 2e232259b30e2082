"""What the tests of pictures share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import pytest

from calibrant import Normal


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Leave pyplot as it was."""
    yield
    plt.close("all")


class Forecaster:
    def predict_dist(self, X: Any) -> Normal:
        return Normal(X[:, 0], X[:, 1])


@pytest.fixture
def forecaster() -> Forecaster:
    """A model that predicts the means and standard deviations it is given as columns."""
    return Forecaster()
