"""Laws moved to another place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibrant import Ensemble, Gamma, Histogram, Mixture, Normal, Poisson
from calibrant.distributions import Truncated, concatenate
from calibrant.distributions.integrals.quadrature import crps, mean, variance
from calibrant.distributions.shifted import Shifted, moved

SHIFT = np.array([2.5, -7.0])


@pytest.fixture
def law() -> Shifted:
    return Shifted(Gamma([2.0, 5.0], [1.0, 0.5]), SHIFT)


def test_closed_forms_agree_with_quadrature(law: Shifted) -> None:
    np.testing.assert_allclose(law.mean(), mean(law), rtol=1e-8)
    np.testing.assert_allclose(law.var(), variance(law), rtol=1e-7)
    for y in ([3.0, -6.0], [10.0, -4.0], [0.0, -9.0]):
        np.testing.assert_allclose(law.crps(y), crps(law, np.array(y)), rtol=1e-6)


def test_by_hand(law: Shifted) -> None:
    np.testing.assert_allclose(law.mean(), [2 / 1 + 2.5, law.base.mean()[1] - 7])
    np.testing.assert_array_equal(law.support[0], SHIFT)
    np.testing.assert_allclose(law.cdf(law.quantiles([0.1, 0.9])), [[0.1, 0.9]] * 2)
    np.testing.assert_allclose(law.pdf([4.0, -5.0]), law.base.pdf([1.5, 2.0]))
    assert law.cdf([2.0, -7.5]).tolist() == [0, 0]
    grid = np.linspace(-10, 40, 200_001)[None, :]
    np.testing.assert_allclose(np.trapezoid(law.pdf(grid), grid[0], axis=1), 1, rtol=1e-6)


def test_rows_and_index(law: Shifted) -> None:
    np.testing.assert_allclose(law[1:].mean(), law.mean()[1:])
    np.testing.assert_allclose(concatenate([law, law[:1]]).mean(), law.mean()[[0, 1, 0]])
    with_names = moved(Truncated(Normal(pd.Series([0.0, 1.0], index=["a", "b"]), 1.0), lower=0.0), SHIFT)
    assert isinstance(with_names, Shifted) and list(with_names.index) == ["a", "b"]


@pytest.mark.parametrize(
    "base",
    [
        Normal([0.0, 1.0], 2.0),
        Histogram([0.0, 1.0, 3.0], [[0.5, 0.5], [0.2, 0.8]]),
        Mixture((Normal([0.0, 1.0], 1.0), Gamma([1.0, 2.0], 1.0)), [0.5, 0.5]),
        Ensemble([[0.1, 0.7, 0.2], [3.0, 1.0, 1.0]], kind="discrete"),
        Ensemble([[0.1, 0.7, 0.2], [3.0, 1.0, 1.5]], weights=[1, 2, 1]),
        Shifted(Gamma([2.0, 5.0], 1.0), [1.0, 2.0]),
    ],
)
def test_every_kind_moves_by_the_shift(base) -> None:  # type: ignore[no-untyped-def]
    there = moved(base, SHIFT)
    levels = [0.05, 0.3, 0.5, 0.9]
    np.testing.assert_allclose(there.quantiles(levels), base.quantiles(levels) + SHIFT[:, None], rtol=1e-12)
    np.testing.assert_allclose(there.mean(), base.mean() + SHIFT, rtol=1e-9)
    assert there.has_atoms == base.has_atoms and there.is_discrete == base.is_discrete
    assert not isinstance(getattr(there, "base", None), Shifted)


def test_atoms_stay_atoms(rng: np.random.Generator) -> None:
    members, shift = rng.normal(size=(50, 4)), rng.normal(size=50)
    law = moved(Ensemble(members, kind="discrete"), shift)
    np.testing.assert_allclose(np.exp(law.logpmf(law.median())), 0.25)


def test_bad_input() -> None:
    with pytest.raises(TypeError, match="`base` must be a distribution; got list. Wrap it with as_distribution"):
        Shifted([1.0], [1.0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`shift` must have one entry per forecast; got 1 for 2 forecasts"):
        Shifted(Normal([0.0, 1.0], 1.0), [1.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="counts cannot be moved"):
        moved(Poisson([1.0]), np.ones(1))
