"""Every calibrator says what it costs where nothing is wrong; quick ones are measured again, in small."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.cost import contestants, rise, stated

CONTESTANTS = [each for each in contestants() if "," not in each.name]
QUICK = ("quantile", "scale", "residual", "temperature", "platt", "isotonic", "binning")


@pytest.mark.parametrize("contestant", CONTESTANTS, ids=lambda each: f"{each.what}-{each.name}")
def test_the_docstring_states_the_cost(contestant):
    costs = stated(contestant)
    assert costs is not None and len(costs) == 3 and all(0 <= cost < 0.15 for cost in costs)


@pytest.mark.parametrize(
    "contestant", [each for each in CONTESTANTS if each.name in QUICK], ids=lambda each: f"{each.what}-{each.name}"
)
def test_the_stated_cost_is_that_of_a_simulation(contestant):
    found = np.array([rise(contestant, 100, 1000 + seed) for seed in range(30)])
    error = found.std(ddof=1) / np.sqrt(30)
    assert found.mean() == pytest.approx(stated(contestant)[0], abs=4 * error + 1e-4)
