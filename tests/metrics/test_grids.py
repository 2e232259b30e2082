from __future__ import annotations

import numpy as np
import pytest

from calibrant import Ensemble, Normal, metrics


@pytest.fixture
def case(rng):
    return rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 3, 4))  # members along the second axis


def test_entries_are_rows(case):
    y, members = case
    given = metrics.score_grid(metrics.crps, y, members, member_axis=1)
    assert given.shape == (2, 3, 4)
    for place in np.ndindex(2, 3, 4):
        own = members[place[0], :, place[1], place[2]]
        assert given[place] == pytest.approx(metrics.crps([y[place]], Ensemble(own[None])), rel=1e-12)
    for axis in (0, -1, (0, 2), (0, 1, 2)):
        mean = metrics.score_grid(metrics.crps, y, members, member_axis=1, axis=axis)
        np.testing.assert_allclose(mean, given.mean(axis=axis), rtol=1e-12)
    assert isinstance(metrics.score_grid(metrics.crps, y, members, member_axis=1, axis=(0, 1, 2)), float)


def test_other_forecasts(case):
    y, members = case
    mu = members[:, 0]
    law = Normal(mu.ravel(), 0.7)
    expected = metrics.nll(y.ravel(), law, per_row=True).reshape(y.shape)
    np.testing.assert_allclose(metrics.score_grid(metrics.nll, y, (mu, 0.7)), expected)
    np.testing.assert_allclose(metrics.score_grid(metrics.nll, y, law), expected)
    np.testing.assert_allclose(metrics.score_grid(metrics.mse, y.tolist(), mu), (y - mu) ** 2)
    quantiles = metrics.score_grid(
        lambda y, q, per_row: metrics.pinball_loss(y, quantiles=q, per_row=per_row), y, {0.2: mu - 1, 0.8: mu + 1}
    )
    by_hand = [np.maximum(t * (y - q), (t - 1) * (y - q)) for t, q in ((0.2, mu - 1), (0.8, mu + 1))]
    np.testing.assert_allclose(quantiles, np.mean(by_hand, axis=0))
    levels = metrics.score_grid(metrics.pinball_loss, y, law, levels=[0.5])
    np.testing.assert_allclose(levels, np.abs(y - mu) / 2)


def test_what_is_missing(case):
    y, members = case
    whole = metrics.score_grid(metrics.crps, y, members, member_axis=1)
    y[0, 0, 0], members[1, 2, 0, 3] = np.nan, np.nan
    y[0, 2] = np.nan
    gone = np.isnan(y)
    gone[1, 0, 3] = True
    with pytest.raises(ValueError, match=r"`y_true` must be finite; 5 of 24 values are not, first y_true\[0\] = nan"):
        metrics.score_grid(metrics.crps, y, members, member_axis=1)
    for policy in ("omit", "propagate"):
        given = metrics.score_grid(metrics.crps, y, members, member_axis=1, nan_policy=policy)
        np.testing.assert_allclose(given, np.where(gone, np.nan, whole))
    omitted = metrics.score_grid(metrics.crps, y, members, member_axis=1, nan_policy="omit", axis=2)
    assert np.isnan(omitted[0, 2]) and omitted[0, 0] == pytest.approx(whole[0, 0, 1:].mean())
    shown = metrics.score_grid(metrics.crps, y, members, member_axis=1, nan_policy="propagate", axis=2)
    np.testing.assert_array_equal(np.isnan(shown), [[True, False, True], [True, False, False]])
    assert metrics.score_grid(metrics.mae, 1.0, 3.0) == 2.0
    assert np.isnan(metrics.score_grid(metrics.mae, [np.nan], [1.0], nan_policy="omit", axis=0))


@pytest.mark.parametrize(
    ("forecasts", "options", "message"),
    [
        (np.zeros((2, 4)), {}, r"`forecasts` must be \(2, 3\), or that and an axis of members; got shape \(2, 4\)"),
        (np.zeros((3, 2, 5)), {}, r"`forecasts` must be \(2, 3\) and an axis of members; got shape \(3, 2, 5\)"),
        (np.zeros((2, 3, 5)), {"member_axis": 3}, "`member_axis` must be an axis of 3 dimensions; got 3"),
        (np.zeros((2, 3)), {"axis": 2}, "`axis` must be one of the 2 axes of `y_true`; got 2"),
        (np.zeros((2, 3)), {"nan_policy": "drop"}, "`nan_policy` must be one of 'raise', 'omit', 'propagate'"),
        (Normal(np.zeros(5), 1.0), {}, "`forecasts` must have a law for each of the 6 entries; got 5"),
    ],
)
def test_bad_input(forecasts, options, message):
    with pytest.raises(ValueError, match=message):
        metrics.score_grid(metrics.mae, np.zeros((2, 3)), forecasts, **options)
