"""Alternatives to probabilities of events, against Bernoulli laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from calibrant.monitor.event_bets import EventBets, TopBets

P = np.array([0.02, 0.3, 0.5, 0.9])


@pytest.mark.parametrize("came", [True, False])
def test_gains_are_log_ratios_of_masses(came):
    seen = EventBets(EventBets.KINDS).seen(P, np.full(4, came))
    shifts = [sign * d for sign in (1, -1) for d in (0.2, 0.4, 0.8, 1.6)]
    others = [expit(logit(P) + d) for d in shifts] + [expit(b * logit(P)) for b in np.exp([-1.2, -0.6, -0.3, 0.3, 0.6])]
    expected = np.array([stats.bernoulli(q).logpmf(came) - stats.bernoulli(P).logpmf(came) for q in others]).T
    np.testing.assert_allclose(seen.gains, expected, atol=1e-12)
    top = TopBets(TopBets.KINDS).seen(P, np.full(4, came))
    np.testing.assert_allclose(top.gains, expected[:, :8], atol=1e-12)
    np.testing.assert_allclose(seen.sums[:, 1], came - P)
    np.testing.assert_allclose(seen.sums[:, 2], [P[0] - came, P[1] - came, 0, came - P[3]], atol=1e-12)


def test_tolerated_log_odds_do_not_win_on_average():
    bets = EventBets(EventBets.KINDS, 0.2)
    came, not_come = (np.exp(bets.seen(P, np.full(4, event)).gains) for event in (True, False))
    means = [came * q + not_come * (1 - q) for q in (expit(logit(P) + d)[:, None] for d in (-0.2, 0.0, 0.13, 0.2))]
    assert np.max(means) <= 1 + 1e-12 and np.max(means[0] + means[3]) > 1.9


def test_impossible_events_are_finite():
    gains = EventBets(EventBets.KINDS).seen(np.array([0.0, 1.0]), np.array([True, False])).gains
    assert np.isfinite(gains).all() and gains.max() == 8
