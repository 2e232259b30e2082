"""Spread and CRPS from one evaluation, against the adaptive integrals."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import (
    DensityCalibrator,
    Ensemble,
    GPBetaCalibrator,
    Mixture,
    Normal,
    QuantileCalibrator,
    Quantiles,
    StudentT,
)
from calibrant.distributions import concatenate
from calibrant.metrics import integrated
from calibrant.metrics.evaluation import LawEvaluation
from calibrant.metrics.integrated import needs_integrals, std_and_crps

N = 60
LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


@pytest.fixture(scope="module")
def laws() -> dict[str, tuple]:
    rng = np.random.default_rng(0)
    mu, scale = rng.normal(size=400), rng.uniform(0.5, 2.0, 400)
    y = mu + 1.5 * scale * rng.standard_normal(400)
    forecasts = {
        "normal": Normal(mu, scale),
        "quantiles": Quantiles(LEVELS, np.sort(mu[:, None] + scale[:, None] * rng.normal(size=(400, 5)), axis=1)),
        "samples": Ensemble(mu[:, None] + scale[:, None] * rng.standard_normal((400, 50))),
    }
    calibrators = {"quantile": QuantileCalibrator(), "density": DensityCalibrator(), "gp-beta": GPBetaCalibrator()}
    found = {}
    for kind, law in forecasts.items():
        for name, calibrator in calibrators.items():
            found[f"{name} of {kind}"] = calibrator.fit(law, y).transform(law)[:N], y[:N]
    mixed = Mixture([found["quantile of samples"][0], found["gp-beta of samples"][0]], [0.3, 0.7])
    found["mixture of samples"] = mixed, y[:N]
    found["joined"] = concatenate([mixed[:30], found["density of normal"][0][30:]]), y[:N]
    return found


CASES = [
    f"{name} of {kind}" for kind in ("normal", "quantiles", "samples") for name in ("quantile", "density", "gp-beta")
]


@pytest.mark.parametrize("case", [*CASES, "mixture of samples", "joined"])
def test_they_agree_with_the_adaptive_integrals(laws: dict[str, tuple], case: str) -> None:
    law, y = laws[case]
    std, crps = std_and_crps(law, y)
    exact_std, exact_crps = law.std(), law.crps(y)
    tight = 1e-4 if "of normal" in case else 5e-3
    assert np.abs(std / exact_std - 1).max() < tight
    assert np.abs((crps - exact_crps) / exact_std).max() < tight
    assert abs(np.mean(crps - exact_crps)) < 5e-4 * exact_std.mean()


def test_what_has_closed_forms_is_left_to_them(laws: dict[str, tuple]) -> None:
    assert not needs_integrals(Normal([0.0], 1.0)) and not needs_integrals(Quantiles(LEVELS, LEVELS[None]))
    assert not needs_integrals(laws["quantile of normal"][0]) and needs_integrals(laws["quantile of samples"][0])
    assert not needs_integrals(Mixture([Normal([0.0], 1.0), Normal([1.0], 1.0)]))
    assert needs_integrals(laws["joined"][0])


def test_heavy_tails_and_outcomes_far_out_are_integrated_adaptively() -> None:
    y = np.array([1e4, 0.0, -3.0])
    law = Mixture([StudentT([0.0] * 3, 1.0, 2.5), Normal([0.0] * 3, 1.0)])
    std, crps = std_and_crps(law, y)
    np.testing.assert_allclose(std, law.std(), rtol=1e-12)
    np.testing.assert_allclose(crps, law.crps(y), rtol=1e-12)


def test_only_those_who_ask_get_the_quick_ones(laws: dict[str, tuple]) -> None:
    law, y = laws["quantile of samples"]
    np.testing.assert_array_equal(LawEvaluation(law, y).crps, law.crps(y))
    quick = LawEvaluation(law, y, quick=True)
    np.testing.assert_array_equal(quick.crps, std_and_crps(law, y)[1])
    np.testing.assert_array_equal(quick[5:9].std, std_and_crps(law, y)[0][5:9])


def test_errors_of_deviations_come_from_those_of_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its second rule an integral has its own size for an error: mean 0 and square 1, so (0 + 1 / 2)."""
    monkeypatch.setattr(integrated, "GAUSS", np.zeros_like(integrated.GAUSS))
    std, _, error = integrated._integrated(Normal([0.0], 1.0), np.array([0.0]), 4)
    assert std == pytest.approx(1.0) and error == pytest.approx(0.5)
