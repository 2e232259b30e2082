"""The catalogue says what the measures themselves say, of every law and of classes."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import norm

from calibrant import Normal, Poisson, Quantiles, metrics
from calibrant.metrics.catalogue import MEASURES, measures_of
from calibrant.metrics.evaluation import ClassEvaluation, LawEvaluation
from tests.common.examples import LAWS

OF_LAWS = [measure for measure in MEASURES.values() if measure.task == "regression"]
OF_CLASSES = [measure for measure in MEASURES.values() if measure.task == "classification"]


@pytest.mark.parametrize("name", LAWS)
def test_measures_of_laws(name, rng):
    law = LAWS[name](rng)
    y = law.sample(1, random_state=1)[:, 0]
    weights = np.array([1.0, 2.0, 0.5])
    evaluation = LawEvaluation(law, y)
    for measure in OF_LAWS:
        expected = measure.function(y, law, sample_weight=weights)
        assert measure.of(evaluation, weights) == pytest.approx(expected, rel=1e-9, abs=1e-12), measure.key


@pytest.mark.parametrize("classes", [2, 4])
def test_measures_of_classes(classes, rng):
    p, codes, w = rng.dirichlet(np.ones(classes), 50), rng.integers(0, classes, 50), rng.random(50)
    names = np.array(["b", "a", "d", "c"])[:classes]
    evaluation = ClassEvaluation(p, codes, names)
    for measure in OF_CLASSES:
        expected = measure.function(names[codes], p, classes=names, sample_weight=w)
        assert measure.of(evaluation, w) == pytest.approx(expected, rel=1e-12), measure.key


def test_rows_are_worked_out_once_and_sliced(rng):
    law, y = Normal(rng.normal(size=40), 1.0), rng.normal(size=40)
    whole = LawEvaluation(law, y)
    known = whole.nll, whole.crps
    part = whole[3:9]
    assert "nll" in vars(part) and np.shares_memory(part.nll, known[0])
    np.testing.assert_array_equal(part.crps, law[3:9].crps(y[3:9]))


@pytest.mark.parametrize("measure", measures_of("regression"), ids=lambda measure: measure.key)
def test_intervals_hold_what_they_promise(measure, rng):
    """Nine of ten 90 % intervals hold the value of very many rows."""
    scale = 1.3
    law, big = Normal(np.zeros(300_000), 1.0), scale * rng.standard_normal(300_000)
    truth = measure.of(LawEvaluation(law, big), np.ones(len(big)))
    if measure.key == "anderson_darling":
        truth *= 400 / len(big)  # grows with the rows
    elif measure.key == "calibration_error":
        truth += 1.65 / 400  # noise enlarges it
    hits = 0
    for _ in range(60):
        y = scale * rng.standard_normal(400)
        found = measure.measured(LawEvaluation(law[:400], y), np.ones(400))
        assert found.low <= found.value <= found.high
        hits += found.low - 1e-9 <= truth <= found.high + 1e-9
    assert hits >= 47  # 54 expected


def test_shares_stay_shares():
    found = MEASURES["coverage_99"].measured(LawEvaluation(Normal(np.zeros(20), 1.0), np.zeros(20)), np.ones(20))
    z = NormalDist().inv_cdf(0.95)
    assert found.value == 1 == found.high and found.low == pytest.approx(1 / (1 + z * z / 20))  # Wilson


def test_one_log_score_for_laws_that_are_compared():
    """Masses where the first laws have one, densities elsewhere, whatever the others have."""
    tied = Quantiles([0.25, 0.5, 0.75], [[0.0, 0.0, 1.0], [0.0, 1.0, 2.0]])
    y = np.array([0.0, 0.5])
    evaluation = LawEvaluation(tied, y)
    mass = tied[:1].cdf(0.0)[0] - norm.cdf(tied[:1].to_normal(np.zeros(1), "left")[0])
    assert evaluation.nll[0] == pytest.approx(-np.log(mass)) and mass == pytest.approx(0.25)
    assert evaluation.nll[1] == pytest.approx(-tied[1:].logpdf(0.5)[0])
    smooth = LawEvaluation(Normal(np.zeros(2), 1.0), y, on_atom=np.array([True, False]))
    assert smooth.nll[0] == np.inf and smooth.nll[1] == pytest.approx(-norm.logpdf(0.5))
    counts = LawEvaluation(Poisson([1.0, 1.0]), np.array([1.0, 2.0]), on_atom=np.array([True, False]))
    assert counts.nll[0] == pytest.approx(1.0) and counts.nll[1] == np.inf  # no density
    assert metrics.nll(y, tied) == pytest.approx(evaluation.nll.mean())


def test_every_measure_has_words():
    for measure in MEASURES.values():
        assert measure.words and measure.label and (measure.rows is None) != (measure.whole is None)
        assert measure.unit in ("nats", "share", "outcome", "")
