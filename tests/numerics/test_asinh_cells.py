"""Cells that are looked up are the cells that are worked out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calibrant.numerics import asinh_cells
from calibrant.numerics.asinh_cells import cells_like

N = 100_000
_rng = np.random.default_rng(0)
COLUMNS = {
    "normal": _rng.normal(size=N),
    "heavy": _rng.standard_cauchy(N),
    "skew": _rng.lognormal(0.0, 5.0, N),
    "far": 1e4 + _rng.normal(size=N),
    "very far": 1e9 + _rng.normal(size=N),
    "small": 1e-9 * _rng.normal(size=N),
    "huge": 1e300 * _rng.uniform(-1.0, 1.0, N),
    "equal": np.zeros(N),
    "on the edges": np.sinh(_rng.integers(-9000, 9000, N) / 2048),
    "beside the edges": np.nextafter(np.sinh(_rng.integers(-9000, 9000, N) / 2048), _rng.choice([-9.0, 9.0], N)),
}


@pytest.mark.parametrize("level", [0, 3, 9, 11, 14, 40, 1000])
@pytest.mark.parametrize("name", COLUMNS)
def test_many_points_have_the_cells_that_few_have(name: str, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asinh_cells, "_is_quick", lambda: False)  # else no table is made
    x: NDArray[np.float64] = COLUMNS[name]
    with np.errstate(over="ignore"):
        few = cells_like(x[:10], level)(x)
        np.testing.assert_array_equal(cells_like(x, level)(x), few)
        np.testing.assert_array_equal(few, np.floor(2.0**level * np.arcsinh(x)))
