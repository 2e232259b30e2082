"""Modes of the densities on the example of Song et al. (2019)."""

from __future__ import annotations

from functools import partial

import numpy as np

from calibrant import FlowCalibrator, GPBetaCalibrator
from experiments.song2019.toy import modes


def test_flow_finds_both_modes_and_gp_beta_one(monkeypatch):
    kept = {"GP-Beta": partial(GPBetaCalibrator, base_map=None), "flow": FlowCalibrator}
    monkeypatch.setattr(modes, "CALIBRATORS", kept)
    found = {name: modes.count_modes(law) for name, law in modes.laws(0).items()}
    right = modes.PLACES >= 20
    assert np.array_equal(found["truth"], np.where(modes.PLACES > 0, 2, 1))
    assert np.all(found["none"] == 1) and np.all(found["GP-Beta"] == 1)
    assert np.all(found["flow"][right] == 2)
