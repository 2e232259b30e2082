"""The monitor's experiment, in small."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.drift import CALM, CHANGES, ROWS, noticed


@pytest.mark.parametrize("name", CALM)
def test_calm_runs_have_all_rows(name):
    monitor = CALM[name](np.random.default_rng(1))
    assert monitor.n_rows_ == ROWS and not monitor.alarms_


def test_changes_are_noticed():
    for change in CHANGES:
        delay, off = noticed(change, 1000, 0)
        assert 0 < delay < 2 * change.noticed and off < 2 * change.named
