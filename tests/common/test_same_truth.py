"""One truth told as normals, as quantile columns and as samples has the same measures, within their noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri

from calibrant.metrics.catalogue import CALIBRATION, LOSS, measures_of
from calibrant.select.comparison import NONE
from tests.common.test_commands import found_by

LEVELS, MEMBERS, ROWS = np.arange(1, 20) / 20, 1000, 800


def told(width: float) -> dict[str, pd.DataFrame]:
    """Forecasts of one width, in three ways, beside the same outcomes."""
    rng = np.random.default_rng(1)
    mu, sigma = rng.normal(size=ROWS), np.exp(rng.normal(0, 0.3, ROWS))
    y, said = mu + sigma * rng.standard_normal(ROWS), (width * sigma)[:, None]
    quantiles, samples = mu[:, None] + said * ndtri(LEVELS), mu[:, None] + said * rng.standard_normal((ROWS, MEMBERS))
    tables = {
        "normal": pd.DataFrame({"mu": mu, "sigma": said[:, 0]}),
        "quantiles": pd.DataFrame(quantiles, columns=[f"q{100 * level:.0f}" for level in LEVELS]),
        "samples": pd.DataFrame(samples, columns=[f"sample_{i}" for i in range(MEMBERS)]),
    }
    return {kind: table.assign(y=y) for kind, table in tables.items()}


@pytest.mark.parametrize("width", [1.0, 0.6])
def test_measures_of_one_truth_agree(width: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"samples": ["--sample-prefix", "sample_"]}
    found: dict[str, dict[str, Any]] = {
        kind: found_by("evaluate", frame, "-m", "quantile", *options.get(kind, []))
        for kind, frame in told(width).items()
    }
    assert {kind: one["chosen"] for kind, one in found.items()} == dict.fromkeys(found, found["normal"]["chosen"])
    for stage in (NONE, "quantile"):
        for measure in measures_of("regression"):
            value, low, high = found["normal"]["measures"][stage][measure.key]
            assert found["quantiles"]["measures"][stage][measure.key][0] == pytest.approx(value, rel=1e-3, abs=1e-4)
            noise = max(high - value, value - low, 0.02 * abs(value))  # samples have noise of their own: 2 % of widths
            assert abs(found["samples"]["measures"][stage][measure.key][0] - value) < noise, (stage, measure.key)
    assert LOSS["regression"] in found["samples"]["measures"][NONE]
    assert CALIBRATION["regression"] in found["samples"]["measures"][NONE]
