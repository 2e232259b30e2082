"""Each fault alone is named, and nothing is said where nothing is wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from calibrant import Normal, Poisson
from calibrant.engines.class_causes import ClassCauses
from calibrant.engines.law_causes import Intervals, LawCauses, weighted_quantile
from calibrant.metrics.evaluation import ClassEvaluation, LawEvaluation
from calibrant.numerics.tails import score_of

N, SEEDS = 1000, 25


def of_laws(law: Normal | Poisson, y: np.ndarray, weights: np.ndarray | None = None) -> list[str]:
    w = np.ones(len(y)) if weights is None else weights
    return LawCauses(LawEvaluation(law, y), w, float(w.sum())).in_words()


def said_of_laws(fault: Callable[[np.ndarray], np.ndarray], n: int = N, seeds: int = SEEDS) -> list[list[str]]:
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        mu, scale = rng.normal(size=n), rng.uniform(0.5, 2.0, n)
        found.append(of_laws(Normal(mu, scale), mu + scale * fault(rng.standard_normal(n))))
    return found


def stretched(e: np.ndarray, by: float, sides: tuple[int, ...]) -> np.ndarray:
    """Errors beyond one deviation on some sides drawn out."""
    for side in sides:
        e = np.where(side * e > 1, side * (1 + by * (side * e - 1)), e)
    return e


FAULTS = {
    "too narrow by ": lambda e: 1.8 * e,
    "too wide by ": lambda e: e / 2,
    " too high": lambda e: e - 0.5,
    " too low": lambda e: e + 0.5,
    "upper tail heavier than forecast": lambda e: stretched(e, 2, (1,)),
    "lower tail heavier than forecast": lambda e: stretched(e, 2, (-1,)),
    "both tails heavier than forecast": lambda e: stretched(e, 2, (1, -1)),
    "both tails lighter than forecast": lambda e: stretched(e, 0.3, (1, -1)),
    "skewed: the upper tail is longer": lambda e: e + 0.15 * e**2,  # median and quartiles' distance stay
    "skewed: the lower tail is longer": lambda e: e - 0.15 * e**2,
}


@pytest.mark.parametrize("words", FAULTS)
def test_each_fault_alone_is_named(words: str) -> None:
    found = said_of_laws(FAULTS[words])
    named = [any(words in text for text in said) for said in found]
    alone = [len(said) == 1 for said in found]
    assert np.mean(named) >= 0.9 and np.mean(np.logical_and(named, alone)) >= 0.8


def test_sizes() -> None:
    assert said_of_laws(lambda e: 1.8 * e, 100_000, 1) == [["too narrow by 1.8×"]]
    rng = np.random.default_rng(0)
    y = rng.standard_normal(100_000)
    assert of_laws(Normal(np.full(len(y), 3.21), 1.0), y) == ["3.2 too high"]
    assert of_laws(Normal(np.full(len(y), -0.3), 2.0), y) == ["too wide by 2.0×", "0.30 too low"]


@pytest.mark.parametrize("n", [20, 50, 100, 1000])
def test_nothing_is_said_where_nothing_is_wrong(n: int) -> None:
    false = np.mean([bool(said) for said in said_of_laws(lambda e: e, n, 600)])
    assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 600)


def test_counts_are_looked_at_over_their_intervals() -> None:
    false, named = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rate = rng.uniform(0.5, 5.0, N)
        false += bool(of_laws(Poisson(rate), rng.poisson(rate).astype(float)))
        named += any("too low" in text for text in of_laws(Poisson(rate), rng.poisson(1.4 * rate).astype(float)))
    assert false <= 5 and named >= 57


def test_a_weight_of_2_is_the_row_twice() -> None:
    rng = np.random.default_rng(3)
    mu, y = rng.normal(size=(2, 300))
    law, twice = Normal(mu, 0.6), np.repeat(np.arange(300), 2)
    one = LawCauses(LawEvaluation(law, y), np.full(300, 2.0), 600.0)
    two = LawCauses(LawEvaluation(law[twice], y[twice]), np.ones(600), 600.0)
    assert one.below == two.below and one.tail(1, 0.05)[1] == two.tail(1, 0.05)[1]
    assert one.bulk == pytest.approx(two.bulk, abs=0.02)


def test_the_noise_of_the_statistics_is_what_simulation_shows() -> None:
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        causes = LawCauses(LawEvaluation(Normal(np.zeros(N), 1.0), rng.standard_normal(N)), np.ones(N), float(N))
        found.append([causes.below, causes.log_scale, causes.tail(1, 0.05), causes.tail(-1, 0.01), causes.skew()])
    values = np.array(found)
    np.testing.assert_allclose(values[:, :, 0].std(axis=0), values[0, :, 1], rtol=0.12)


def test_intervals_by_hand() -> None:
    whole = Intervals.of(np.array([-np.inf]), np.array([np.inf]))
    assert whole.below(0.0) == 0.5 and whole.quantile(0.25, np.ones(1)) == pytest.approx(-0.6745, abs=1e-4)
    assert score_of(np.array([0.25]), np.array([0.75]))[0] == pytest.approx(-0.6745, abs=1e-4)
    points = Intervals.of(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(points.below(0.0), [0.5, 0.0])
    assert weighted_quantile(np.array([1.0, 2.0]), np.array([1.0, 3.0]), 0.5) == pytest.approx(1.75)


# ---- classes ----
def said_of_classes(
    fault: Callable[[np.ndarray], np.ndarray], k: int, n: int = N, seeds: int = SEEDS
) -> list[list[str]]:
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        logits = 1.5 * rng.normal(size=(n, k))
        p, q = (np.exp(a) / np.exp(a).sum(axis=1, keepdims=True) for a in (logits, fault(logits)))
        y = np.minimum((p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), k - 1)
        labels = np.array(["a", "b", "c", "d"])[:k]
        found.append(ClassCauses(ClassEvaluation(q, y, labels), np.ones(n), float(n)).in_words())
    return found


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("overconfident: log odds ", lambda a: 2 * a),
        ("underconfident: log odds ", lambda a: a / 2),
        ("forecast too often", lambda a: a + np.eye(a.shape[1])[-1]),
        ("forecast too rarely", lambda a: a - np.eye(a.shape[1])[-1]),
    ],
)
def test_each_fault_of_probabilities_alone_is_named(words: str, fault: Callable, k: int) -> None:
    found = said_of_classes(fault, k)
    other = "confident" if "forecast" in words else "forecast too"
    assert np.mean([any(words in text for text in said) for said in found]) >= 0.95
    assert np.mean([any(other in text for text in said) for said in found]) <= 0.1


@pytest.mark.parametrize(("k", "n"), [(2, 100), (2, N), (3, 100), (4, N)])
def test_nothing_is_said_of_calibrated_probabilities(k: int, n: int) -> None:
    false = np.mean([bool(said) for said in said_of_classes(lambda a: a, k, n, 400)])
    assert false <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def test_words_of_classes() -> None:
    (said,) = said_of_classes(lambda a: 2 * a, 2, 100_000, 1)
    assert said == ["overconfident: log odds 2.0× too large; the likeliest class is given 88 % and comes in 79 %"]
    (said,) = said_of_classes(lambda a: a + np.array([0.0, 1.0]), 2, 100_000, 1)
    assert len(said) == 1 and said[0].startswith("class b forecast too often: 6")


def test_classes_that_never_came_and_labels_without_an_error() -> None:
    p = np.tile([0.98, 0.01, 0.01], (60, 1))
    codes = np.zeros(60, dtype=int)
    assert ClassCauses(ClassEvaluation(p, codes, np.arange(3)), np.ones(60), 60.0).in_words() == []
    codes[:30] = 1
    q = np.where(np.eye(3)[codes] > 0, 0.9, 0.05)
    said = ClassCauses(ClassEvaluation(q, codes, np.arange(3)), np.ones(60), 60.0).in_words()
    assert not any("over" in text for text in said)
