"""The envelope of densities: closed forms, brute force, and that intervals are nested and hold what they must."""

import numpy as np
import pytest
from scipy.stats import norm, poisson

from calibrant import Censored, Ensemble, Gamma, Laplace, Mixture, Normal, Poisson, QuantileCalibrator, StudentT
from calibrant.distributions.envelope import Envelope, middle_scores


def test_of_normal_laws_is_their_density():
    law = Normal([0.0, 3.0], [1.0, 0.2])
    level = np.log([[0.3, 0.1], [1.9, 1e-3]])
    first, last = Envelope.of(law).scores_above(level)
    exact = np.sqrt(-2 * (level + 0.5 * np.log(2 * np.pi) + np.log([[1.0], [0.2]])))
    np.testing.assert_allclose(last, exact, atol=0.02)
    np.testing.assert_allclose(first, -last)


@pytest.mark.parametrize(
    "law",
    [Gamma([0.7, 4.0], 2.0), Laplace([0.0, 1.0], 1.0), StudentT([0.0, 5.0], 1.0, df=2.5), Normal([1e6, -3.0], 1e-3)],
    ids=lambda law: type(law).__name__,
)
def test_a_value_is_within_just_where_its_score_says_so(law, rng):
    envelope = Envelope.of(law)
    z = rng.normal(scale=3, size=(2, 200))
    height = np.column_stack([envelope.at(column) for column in z.T])
    first, last = envelope.scores_above(rng.permutation(height.T).T)
    level = np.minimum(envelope.up[:, -1:], height)
    again = envelope.scores_above(level)
    assert ((again[0] <= z + 1e-9) & (z <= again[1] + 1e-9)).all() and (first <= last).all()


def test_intervals_of_lower_levels_hold_those_of_higher_ones(rng):
    law = Mixture([Normal([-3.0, 0.0], 0.3), Normal([3.0, 1.0], [1.0, 0.2])], [0.3, 0.7])
    first, last = Envelope.of(law).scores_above(np.broadcast_to(np.linspace(-20, 2, 50), (2, 50)))
    assert (np.diff(first) >= 0).all() and (np.diff(last) <= 0).all()
    low, high = law.from_normal(np.array([first[0, -15], last[0, -15]])[None, :].repeat(2, 0))[0]
    assert low < -2 < 2 < high  # both modes of the first law


@pytest.mark.parametrize("mean", [0.3, 2.0, 30.0, 3e4])
def test_whole_numbers_by_brute_force(mean):
    law = Poisson([mean])
    k = np.arange(poisson.ppf(1e-4, mean), poisson.ppf(1 - 1e-4, mean) + 1)
    score = Envelope.of(law[np.zeros(len(k), dtype=int)]).at(middle_scores(law[np.zeros(len(k), dtype=int)], k))
    np.testing.assert_allclose(score, poisson.logpmf(k, mean), atol=0.2 if mean < 100 else 0.02)
    order = np.argsort(-score, kind="stable")[:5]
    assert abs(k[order].mean() - poisson.pmf(k, mean).argmax() - k[0]) <= 2.5


def test_recalibrated_laws(rng):
    base = Normal(np.zeros(500), 1.0)
    law = QuantileCalibrator().fit(base, rng.exponential(size=500)).transform(base[:1])
    first, last = Envelope.of(law).scores_above(law.logpdf(law.quantiles([0.8])[0])[:, None])
    assert norm.cdf(first[0, 0]) < 0.1 and norm.cdf(last[0, 0]) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("law", [Censored(Normal([0.0], 1.0), lower=0.0), Ensemble([[1.0, 2.5, 4.0]], kind="discrete")])
def test_single_values_with_probability_are_refused(law):
    with pytest.raises(ValueError, match="forecasts must have densities, or be of counts"):
        Envelope.of(law)
