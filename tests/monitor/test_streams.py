"""E-processes against sums over starts and products over steps, written down."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Normal
from calibrant.monitor.bets import Seen
from calibrant.monitor.family import Part, group_share, own_findings, strongest, together
from calibrant.monitor.law_bets import LawBets
from calibrant.monitor.starts import log_start, not_yet
from calibrant.monitor.streams import Steps, Streams

BETS = LawBets(("bias", "width"))


def steps_of(z, at=0, times=None):
    n = len(z)
    times = np.arange(at, at + n) + 0.5 if times is None else times
    return Steps(BETS.seen(Normal(np.zeros(n), 1.0), z), np.arange(at, at + n), times)


def literal(gains, weights):
    """E_t = sum_a pi_a sum_s w_s prod_{u=s..t} L_u + R_t."""
    n, out = len(gains), []
    w = [(1 + s / 1000) ** -0.5 - (1 + (s + 1) / 1000) ** -0.5 for s in range(n)]
    for t in range(n):
        capital = sum(w[s] * np.exp(gains[s : t + 1].sum(axis=0)) for s in range(t + 1))
        out.append(weights @ capital + (1 + (t + 1) / 1000) ** -0.5)
    return np.array(out)


def test_prior_of_starts_adds_up_to_one():
    t = np.arange(1, 100_001)
    assert np.exp(log_start(t)).sum() + not_yet(100_000) == pytest.approx(1, abs=1e-12)
    assert np.exp(log_start(t[:3])) == pytest.approx(-np.diff(1 / np.sqrt([1, 1.001, 1.002, 1.003])))


@pytest.mark.parametrize("cuts", [[], [1, 2, 30]])
def test_e_values_and_onsets(rng, cuts):
    z = rng.normal(size=60)
    z[35:] = 1.7 * z[35:] + 0.6
    streams, log_e, last = Streams.new(2, BETS.count), [], None
    for part in np.split(np.arange(60), cuts):
        last = streams.advance(1, BETS, steps_of(z[part], part[0]))
        log_e.append(last.log_e)
    gains = BETS.seen(Normal(np.zeros(60), 1.0), z).gains
    for kind, members in enumerate(BETS.members):
        own = gains[:, members]
        width = own.shape[1]
        np.testing.assert_allclose(np.exp(np.concatenate(log_e)[:, kind]), literal(own, np.full(width, 1 / width)))
        capital = [
            sum(np.exp(own[s:, a].sum() + log_start(np.array([s + 1]))[0]) for s in range(60)) for a in range(width)
        ]
        best = int(np.argmax(capital))
        since = int(np.argmax([own[s:, best].sum() for s in range(60)]))
        onset = last.onset(len(last.steps) - 1, kind)
        assert (onset.place, onset.row, onset.time) == (members.start + best, since, since + 0.5)
        tail = z[since:]
        np.testing.assert_allclose(onset.sums[:3], [len(tail), tail.sum(), (tail**2).sum()])
        idle = streams.idle(1, BETS)
        np.testing.assert_allclose(idle.log_e_after(-1), last.log_e[-1])
        assert idle.onset(-1, kind)[:3] == onset[:3]
    assert (streams.steps == [0, 60]).all() and np.isneginf(streams.log_capital[0]).all()
    assert streams.idle(0, BETS).log_e_after(-1) == pytest.approx(0.0)


def test_belief_is_the_probability_of_a_change_times_the_log_width_since(rng):
    z, streams, seen = rng.normal(size=120) * np.repeat([1.0, 1.8], 60), Streams.new(1, BETS.count), []
    for at in range(0, 120, 40):
        path = streams.advance(0, BETS, steps_of(z[at : at + 40], at))
        seen.append(path.belief())
        onset, capital = path.onset(39, 1), np.exp(path.log_capital[-1, 10:]).sum() / 7
        change = capital / (capital + (1 + (at + 40) / 1000) ** -0.5)
        assert seen[-1][-1] == pytest.approx(0.5 * change * np.log(np.mean(z[onset.row : at + 40] ** 2)))
    whole = Streams.new(1, BETS.count).advance(0, BETS, steps_of(z)).belief()
    np.testing.assert_allclose(np.concatenate(seen), whole, atol=1e-12)
    assert np.abs(whole[:40]).max() < 0.1 < 0.4 < whole[-1] < 0.8


def test_rows_of_one_time_win_the_mean_of_their_ratios():
    gains, sums = np.log([[1.0, 4.0], [3.0, 2.0], [5.0, 6.0]]), np.ones((3, 5))
    steps, first = Steps(Seen(gains, sums), np.array([7, 8, 9]), np.array([1.0, 1.0, 2.0])).joined()
    np.testing.assert_allclose(np.exp(steps.seen.gains), [[2, 3], [5, 6]])
    assert steps.rows.tolist() == [7, 9] and steps.seen.sums[:, 0].tolist() == [2, 1] and first.tolist() == [0, 2]


def test_all_tests_together_are_the_mixture(rng):
    z, streams = rng.normal(size=40), Streams.new(3, BETS.count)
    z[20:] += 2
    shares, odd = np.array([0.5, 0.2, 0.1]), np.arange(1, 40, 2)
    ends = [np.arange(40), odd, odd - 1]
    parts = [Part(k, at, streams.advance(k, BETS, steps_of(z[at]))) for k, at in enumerate(ends)]
    total = np.exp(together(parts, shares, np.zeros(3), 40))
    mean = [np.exp(part.path.log_e).mean(axis=1) for part in parts]
    for row in (0, 1, 25, 39):
        seen = [np.concatenate([[1.0], mean[k]])[np.searchsorted(ends[k], row, side="right")] for k in range(3)]
        assert total[row] == pytest.approx(0.2 + shares @ seen)
    found = strongest(parts, shares, 30, 3.0)
    own = [
        [shares[k] * np.exp(e) for e in parts[k].path.log_e[np.searchsorted(ends[k], 30, side="right") - 1]]
        for k in range(3)
    ]
    assert (found.stream, found.kind) == np.unravel_index(np.argmax(own), (3, 2)) and found.end == 30
    news = list(own_findings(parts, shares, np.zeros((3, 2), dtype=bool), 0.05))
    for each in news:
        log_e = parts[each.stream].path.log_e[:, each.kind] + np.log(shares[each.stream] / 2)
        assert each.end == ends[each.stream][np.argmax(log_e >= np.log(20))]
    assert {each.stream for each in news} == {0, 2} and all(each.kind == 0 for each in news)


def test_shares_of_groups_never_add_up_to_more_than_all():
    given, known = 0.0, 0
    for new in (3, 1, 1, 40):
        given, known = given + new * group_share(known, new), known + new
    assert given == pytest.approx(1 - 1 / 46)
