"""Brier score and its decompositions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.metrics import brier_score_loss

from calibrant import metrics


@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_agrees(weighted, rng):
    weight = rng.random(500) if weighted else None
    y, p = rng.integers(0, 2, 500), rng.random(500)
    expected = brier_score_loss(y, p, sample_weight=weight)
    assert metrics.brier_score(y, p, sample_weight=weight) == pytest.approx(expected, rel=4e-15)
    y, p = rng.integers(0, 6, 500), rng.dirichlet(np.ones(6), 500)
    expected = brier_score_loss(y, p, sample_weight=weight)
    assert metrics.brier_score(y, p, sample_weight=weight) == pytest.approx(expected, rel=4e-15)


def test_scales():
    two, three = ([0, 1], [0.2, 0.6]), ([0, 2], [[0.5, 0.5, 0.0], [0.2, 0.2, 0.6]])
    values = {s: (metrics.brier_score(*two, scale=s), metrics.brier_score(*three, scale=s)) for s in ("auto", "sum")}
    assert values["auto"] == pytest.approx((0.1, 0.37))
    assert values["sum"] == pytest.approx((0.2, 0.37))
    chapter = metrics.brier_score(*two, scale="chapter"), metrics.brier_score(*three, scale="chapter")
    assert chapter == pytest.approx((0.1, 0.37 / 3))
    with pytest.raises(ValueError, match="`scale` must be one of 'auto', 'chapter', 'sum'; got 'half'"):
        metrics.brier_score(*two, scale="half")


def total(parts):
    return (
        parts.miscalibration
        - parts.discrimination
        + parts.uncertainty
        + parts.within_variance
        - parts.within_covariance
    )


WAYS = {
    "equal forecasts": {},
    "width": {"bins": "width", "n_bins": 7},
    "mass": {"bins": "mass", "n_bins": 6},
    "pav": {"method": "pav"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scale", ["auto", "chapter", "sum"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_parts_add_up(way, scale, n_classes, rng):
    p = (rng.multinomial(10 - n_classes, np.ones(n_classes) / n_classes, 300) + 1) / 10
    y, weight = rng.integers(0, n_classes, 300), rng.random(300) + 3
    parts = metrics.brier_decomposition(y, p, **WAYS[way], scale=scale, sample_weight=weight)
    assert parts.brier == metrics.brier_score(y, p, scale=scale, sample_weight=weight)
    assert total(parts) == pytest.approx(parts.brier, rel=1e-13)
    assert min(parts.miscalibration, parts.discrimination, parts.uncertainty, parts.within_variance) >= 0
    within = (parts.within_variance, parts.within_covariance)
    assert (within == (0.0, 0.0)) == (way in ("equal forecasts", "pav"))
    assert (parts.reliability, parts.resolution) == (parts.miscalibration, parts.discrimination)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=1, max_size=60), st.sampled_from(["width", "mass"])
)
def test_bins_add_up_always(rows, bins):
    y, p = np.array([r[0] for r in rows]), np.array([r[1] / 20 for r in rows])
    parts = metrics.brier_decomposition(y, p, bins=bins, n_bins=3)
    assert total(parts) == pytest.approx(parts.brier, abs=1e-14)


class TestMurphy:
    def test_by_hand(self):
        y, p = [0, 0, 0, 1, 1, 1, 1, 0], [0.2] * 4 + [0.9] * 4
        parts = metrics.brier_decomposition(y, p)
        assert parts.miscalibration == pytest.approx((0.05**2 + 0.15**2) / 2)
        assert parts.discrimination == pytest.approx(0.25**2)
        assert parts.uncertainty == pytest.approx(0.25)

    def test_bins_by_hand(self):
        parts = metrics.brier_decomposition([0, 1, 1, 0], [0.1, 0.3, 0.7, 0.9], bins="width", n_bins=2)
        assert parts.miscalibration == pytest.approx(0.3**2)
        assert parts.discrimination == 0
        assert parts.within_variance == pytest.approx(0.1**2)
        assert parts.within_covariance == pytest.approx(0, abs=1e-15)

    def test_nearly_all_scores_are_different(self, rng):
        y, p = rng.integers(0, 2, 100), rng.random(100)
        with pytest.warns(UserWarning, match='100 of 100 scores are different.*method="pav" or bins="mass"') as caught:
            parts = metrics.brier_decomposition(y, p)
        assert caught[0].filename == __file__
        assert parts.miscalibration == pytest.approx(parts.brier)
        metrics.brier_decomposition(y, p.round(1))  # no warning
        metrics.brier_decomposition(y, p, sample_weight=np.full(100, 2.0))

    def test_calibrated_forecasts(self):
        y, p = [0, 0, 0, 1] * 10 + [1, 1, 1, 0] * 10, [0.25] * 40 + [0.75] * 40
        assert metrics.brier_decomposition(y, p).miscalibration == pytest.approx(0, abs=1e-16)


class TestPav:
    # model-diagnostics 1.5: decompose(y_obs=y, y_pred=p, scoring_function=SquaredError(), weights=w)
    Y = (0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1)
    P = (0.05, 0.1, 0.1, 0.3, 0.35, 0.5, 0.5, 0.5, 0.7, 0.8, 0.95, 0.99)

    @pytest.mark.parametrize(
        ("weights", "expected"),
        [
            (None, (0.06257777777777776, 0.08750000000000002, 0.24305555555555558, 0.21813333333333332)),
            (range(1, 13), (0.05695219780219782, 0.06696722081337461, 0.20249835634451016, 0.19248333333333337)),
        ],
        ids=["plain", "weighted"],
    )
    def test_model_diagnostics_agrees(self, weights, expected):
        parts = metrics.brier_decomposition(self.Y, self.P, method="pav", sample_weight=weights)
        mine = parts.miscalibration, parts.discrimination, parts.uncertainty, parts.brier
        assert mine == pytest.approx(expected, rel=1e-12)

    def test_scipy_agrees(self, rng):
        p = rng.random(400)
        y = (rng.random(400) < p**2).astype(float)
        order = np.argsort(p)
        fitted = isotonic_regression(y[order]).x
        recalibrated = np.mean((fitted - y[order]) ** 2)
        parts = metrics.brier_decomposition(y, p, method="pav")
        assert parts.miscalibration == pytest.approx(np.mean((p - y) ** 2) - recalibrated, rel=1e-11)
        assert parts.discrimination == pytest.approx(y.mean() * (1 - y.mean()) - recalibrated, rel=1e-11)

    def test_increasing_changes_leave_the_discrimination(self, rng):
        y, p = rng.integers(0, 2, 200), rng.random(200)
        one, other = (metrics.brier_decomposition(y, q, method="pav") for q in (p, p**3))
        assert one.discrimination == pytest.approx(other.discrimination, rel=1e-12)
        assert one.miscalibration != pytest.approx(other.miscalibration, rel=1e-3)

    def test_bins_have_no_place(self):
        with pytest.raises(ValueError, match="`bins` must be None with method='pav'"):
            metrics.brier_decomposition([0, 1], [0.2, 0.3], method="pav", bins="mass")
        with pytest.raises(ValueError, match="`bins` must be one of 'width', 'right', 'mass'; got 'quantile'"):
            metrics.brier_decomposition([0, 1], [0.2, 0.3], bins="quantile")
        with pytest.raises(ValueError, match="`method` must be one of 'murphy', 'pav'; got 'corp'"):
            metrics.brier_decomposition([0, 1], [0.2, 0.3], method="corp")
