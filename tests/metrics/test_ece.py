"""Expected calibration error: bins, kinds, norms, debiasing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import foldnorm

from calibrant import metrics


def naive(events, p, n_bins=15, norm=1.0):
    """Bin after bin of equal width, right-open but for the last."""
    edges = np.arange(n_bins + 1) / n_bins
    distances, shares = [], []
    for b in range(n_bins):
        inside = (p >= edges[b]) & ((p < edges[b + 1]) | ((b == n_bins - 1) & (p == 1)))
        if inside.any():
            distances.append(abs(p[inside].mean() - events[inside].mean()))
            shares.append(inside.mean())
    if norm == np.inf:
        return max(distances)
    return np.dot(shares, np.power(distances, norm)) ** (1 / norm)


@pytest.mark.parametrize("norm", [1, 2, np.inf])
@pytest.mark.parametrize("n_bins", [1, 7, 15, 400])
def test_equal_width(norm, n_bins, rng):
    p = rng.random(300)
    y = rng.random(300) < p**2
    assert metrics.ece(y, p, n_bins=n_bins, norm=norm) == pytest.approx(naive(y, p, n_bins, norm), rel=1e-11)


class TestEdges:
    def test_1_belongs_to_the_last_bin_and_inner_edges_to_the_bin_above(self):
        p, y = np.array([0.0, 0.25, 0.5, 0.75, 0.99, 1.0]), np.array([0, 1, 0, 1, 1, 0])
        expected = (abs(0) + abs(0.25 - 1) + abs(0.5) + abs(2.74 - 2)) / 6
        assert metrics.ece(y, p, n_bins=4) == pytest.approx(expected)

    def test_all_at_1(self):
        assert metrics.ece([1, 1, 0, 1], np.ones(4)) == pytest.approx(0.25)
        assert metrics.ece([1, 1, 0, 1], np.ones(4), bins="mass") == pytest.approx(0.25)

    def test_equal_forecasts_share_a_bin_of_equal_mass(self):
        y, p = [0, 1, 1, 0, 1, 1], [0.3, 0.3, 0.3, 0.3, 0.6, 0.9]
        value = metrics.ece(y, p, bins="mass", n_bins=3)
        assert value == pytest.approx((4 * 0.2 + 0.4 + 0.1) / 6)

    def test_equal_mass(self, rng):
        p = rng.random(100)
        y = rng.random(100) < p
        order = np.argsort(p)
        expected = np.mean([abs(p[part].mean() - y[part].mean()) for part in np.split(order, 10)])
        assert metrics.ece(y, p, bins="mass", n_bins=10) == pytest.approx(expected, rel=1e-12)


class TestKinds:
    def test_class_wise(self, rng):
        y, p = rng.integers(0, 4, 300), rng.dirichlet(np.ones(4), 300)
        expected = np.mean([naive(y == j, p[:, j]) for j in range(4)])
        assert metrics.ece(y, p, kind="class-wise") == pytest.approx(expected, rel=1e-11)

    def test_top_label(self, rng):
        y, p = rng.integers(0, 4, 300), rng.dirichlet(np.ones(4), 300)
        expected = naive(y == p.argmax(axis=1), p.max(axis=1))
        assert metrics.ece(y, p, kind="top-label") == pytest.approx(expected, rel=1e-11)
        assert metrics.ece(y, p) == metrics.ece(y, p, kind="top-label")

    def test_top_label_of_two(self, rng):
        y, p = rng.integers(0, 2, 300), rng.random(300)
        expected = naive(y == (p > 0.5), np.maximum(p, 1 - p), 10)
        for form in (p, np.column_stack([1 - p, p])):
            assert metrics.ece(y, form, kind="top-label", n_bins=10) == pytest.approx(expected, rel=1e-11)

    def test_of_equally_probable_classes_the_first(self):
        for form in ([0.5, 0.9], [[0.5, 0.5], [0.1, 0.9]]):
            assert metrics.ece(["a", "b"], form, kind="top-label", n_bins=1) == pytest.approx(0.3)
        assert metrics.ece([0, 1], [[0.4, 0.4, 0.2]] * 2, n_bins=1) == pytest.approx(0.1)

    def test_two_classes(self, rng):
        y, p = rng.integers(0, 2, 100), rng.random(100)
        assert metrics.ece(y, p) == metrics.ece(y, p, kind="binary") == metrics.ece(y, p, kind="class-wise")
        with pytest.raises(ValueError, match='kind="binary" is for two classes; got 3'):
            metrics.ece([0, 1, 2], np.full((3, 3), 1 / 3), kind="binary")
        with pytest.raises(ValueError, match="`kind` must be one of 'auto', 'binary', 'top-label', 'class-wise'"):
            metrics.ece(y, p, kind="marginal")


class TestDebiased:
    def test_squares_by_hand(self):
        y, p = [0, 1, 1, 1, 0, 0, 0, 0, 1], [0.9] * 4 + [0.1] * 4 + [0.6]  # 0.6 is alone in its bin
        expected = 4 / 9 * (0.15**2 - 0.75 * 0.25 / 3) + 4 / 9 * 0.1**2
        assert metrics.ece(y, p, n_bins=4, norm=2, debiased=True) == np.sqrt(max(0, expected))
        p[0:4] = [0.3] * 4
        expected = 4 / 9 * (0.45**2 - 0.75 * 0.25 / 3) + 4 / 9 * 0.1**2
        assert metrics.ece(y, p, n_bins=4, norm=2, debiased=True) == pytest.approx(np.sqrt(expected))

    def test_of_one_row_nothing_is_known_of_two_the_variance(self):
        assert metrics.ece([1], [0.3], norm=2, debiased=True, classes=[0, 1]) == 0
        assert metrics.ece([1, 1], [0.3, 0.3], norm=2, debiased=True, classes=[0, 1]) == pytest.approx(0.7)
        assert metrics.ece([0, 1], [0.99, 0.99], norm=1, debiased=True) == pytest.approx(
            2 * 0.49 - foldnorm.mean(0.49 / 0.5, scale=0.5)
        )

    def test_distance_by_hand(self):
        y, p = [0, 1, 1, 1], [0.3] * 4
        std = np.sqrt(0.75 * 0.25 / 3)
        added = foldnorm.mean(0.45 / std, scale=std) - 0.45
        assert metrics.ece(y, p, debiased=True) == pytest.approx(0.45 - added, rel=1e-12)

    def test_unbiased_where_nothing_is_wrong_and_where_something_is(self):
        rng = np.random.default_rng(3)
        p = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 20)
        squares = {"calibrated": [], "off": []}
        for _ in range(2000):
            u = rng.random(100)
            for name, truth in (("calibrated", p), ("off", np.clip(p + 0.2, 0, 1))):
                bins = metrics.brier_decomposition(u < truth, p, bins="width", n_bins=5).miscalibration
                value = metrics.ece(u < truth, p, n_bins=5, norm=2, debiased=True) ** 2
                squares[name].append((value, bins))
        off = np.mean(squares["off"], axis=0)
        real = np.mean((np.clip([0.3, 0.5, 0.7, 0.9, 1.1], 0, 1) - [0.1, 0.3, 0.5, 0.7, 0.9]) ** 2)
        assert off[0] == pytest.approx(real, abs=1e-3)  # never near 0, so that nothing is cut
        assert off[1] - real > 5e-3
        assert np.mean(squares["calibrated"], axis=0)[0] < 0.6 * np.mean(squares["calibrated"], axis=0)[1]

    def test_not_of_the_largest_distance(self):
        with pytest.raises(ValueError, match="`norm` must be 1, 2 or inf, and 1 or 2 where debiased; got inf"):
            metrics.ece([0, 1], [0.2, 0.7], norm=np.inf, debiased=True)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"norm": 3}, "`norm` must be 1, 2 or inf, and 1 or 2 where debiased; got 3"),
        ({"bins": "quantile"}, "`bins` must be one of 'width', 'right', 'mass'; got 'quantile'"),
        ({"n_bins": 0}, "`n_bins` must be a whole number of at least 1; got 0"),
    ],
)
def test_settings(setting, message):
    with pytest.raises(ValueError, match=message):
        metrics.ece([0, 1], [0.2, 0.7], **setting)
