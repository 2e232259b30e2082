"""Values that the tests of scoringrules 0.10.0 and properscoring 0.1 assert, of every score that is named here too.

Numbers only, each beside the name of the function there; most of theirs were made by R's scoringRules. The tolerance is
theirs, NumPy's ``isclose``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

from calibrant import (
    GEV,
    GPD,
    Beta,
    Censored,
    Ensemble,
    Gamma,
    Gumbel,
    Histogram,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    Truncated,
    as_distribution,
    metrics,
)  # fmt: skip

INF = np.inf
MEMBERS = [1.7812118, 0.5863797, 0.7038174, -0.7743998, -0.2751647, 1.1863249, 1.2990966, -0.3242982, -0.5968781,
           0.9064937]  # fmt: skip


def negative_binomial(n, prob=None, mu=None):
    return NegativeBinomial([n * (1 - prob) / prob if mu is None else mu], 1 / n)


def uniform(low, high):
    return Histogram([[low, high]], [[1.0]])


def three_normals(weights):
    means, deviations = (0.0, -2.9, 0.9), (0.5, 1.4, 0.7)
    return Mixture([Normal([m], s) for m, s in zip(means, deviations, strict=True)], weights=[weights])


def members(samples, weights=None):
    return Ensemble([samples], weights=None if weights is None else [weights], kind="discrete")


CRPS = [
    ("ensemble qd", lambda: members(MEMBERS), -0.6042506, 0.6126602),
    ("ensemble qd, ens_w", lambda: members(MEMBERS, np.arange(10)), -0.6042506, 0.4923673),
    ("beta", lambda: Beta([0.7], 1.1), 0.3, 0.0850102437),
    ("beta", lambda: Beta([0.7], 1.1, -5.0, 4.0), -3.0, 0.883206751),
    ("binomial", lambda: stats.binom([10], 0.9), 8, 0.6685115),
    ("binomial", lambda: stats.binom([10], 0.9), -8, 16.49896),
    ("binomial", lambda: stats.binom([10], 0.9), 18, 8.498957),
    ("exponential", lambda: stats.expon(scale=[1 / 0.7]), 3, 1.20701837),
    ("gamma", lambda: Gamma([1.1], 1 / 0.7), 0.2, 0.6343718),
    ("gev", lambda: GEV([0.0], 1.0, 0.0), 0.3, 0.276440963),
    ("gev", lambda: Gumbel([0.1], 1.0), 0.4, 0.276440963),
    ("gev", lambda: GEV([0.0], 0.9, 0.0), 0.27, 0.276440963 * 0.9),
    ("gev", lambda: GEV([0.0], 1.0, 0.7), 0.3, 0.458044365),
    ("gev", lambda: GEV([0.1], 1.0, 0.7), 0.4, 0.458044365),
    ("gev", lambda: GEV([0.0], 0.9, 0.7), 0.27, 0.458044365 * 0.9),
    ("gev", lambda: GEV([0.0], 1.0, -0.7), 0.3, 0.207621488),
    ("gev", lambda: GEV([0.1], 1.0, -0.7), 0.4, 0.207621488),
    ("gev", lambda: GEV([0.0], 0.9, -0.7), 0.27, 0.207621488 * 0.9),
    ("gpd", lambda: GPD([0.0], 1.0, 0.9), 0.3, 0.6849332),
    ("gpd", lambda: GPD([0.0], 1.0, 0.9), -0.3, 1.209091),
    ("gpd", lambda: GPD([0.0], 1.0, -0.9), 0.3, 0.1338672),
    ("gpd", lambda: GPD([0.0], 1.0, -0.9), -0.3, 0.6448276),
    ("gpd", lambda: GPD([0.1], 1.0, 0.0), 0.4, 0.281636441),
    ("gpd", lambda: GPD([0.0], 0.9, 0.0), 0.27, 0.281636441 * 0.9),
    ("tlogistic", lambda: Truncated(Logistic([3.5], 2.3), 0.0, 20.0), 4.9, 0.7658979),
    ("clogistic", lambda: Censored(Logistic([0.4], 1.1), 0.0, 1.0), -0.9, 1.13237),
    ("tnormal", lambda: Truncated(Normal([2.9], 2.2), 1.5, 17.3), -1.0, 3.982434),
    ("cnormal", lambda: Censored(Normal([0.4], 1.1), 0.0, 2.0), 1.8, 0.8296078),
    ("tt", lambda: Truncated(StudentT([3.1], 4.2, 2.9), 1.5, 17.3), -1.0, 5.084272),
    ("ct", lambda: Censored(StudentT([0.4], 1.1, 5.4), 0.0, 2.0), 1.8, 0.8028996),
    ("hypergeometric", lambda: stats.hypergeom(np.array([20]), 7, 12), 5, 0.4469742),
    ("laplace", lambda: Laplace([0.0], 1.0), -3, 2.29978707),
    ("laplace", lambda: Laplace([0.1], 1.0), -2.9, 2.29978707),
    ("laplace", lambda: Laplace([0.0], 0.9), -2.7, 0.9 * 2.29978707),
    ("logistic", lambda: Logistic([13.8], 3.3), 17.1, 2.067527),
    ("logistic", lambda: Logistic([4.0], 0.5), 3.1, 0.5529776),
    ("loglaplace", lambda: stats.loglaplace([1 / 0.9], scale=np.exp(0.1)), 3.0, 1.16202051),
    ("loglogistic", lambda: stats.fisk([1 / 0.9], scale=np.exp(0.1)), 3.0, 1.13295277),
    ("mixnorm", lambda: three_normals([1 / 3, 1 / 3, 1 / 3]), 0.3, 0.4510451),
    ("mixnorm", lambda: three_normals([0.3, 0.1, 0.6]), 0.3, 0.2354619),
    ("negbinom", lambda: negative_binomial(7.0, 0.8), 2.0, 0.3834322),
    ("negbinom", lambda: negative_binomial(2.0, 0.5), 1.5, 0.462963),
    ("negbinom", lambda: negative_binomial(17.0, 0.1), -1.0, 132.0942),
    ("negbinom", lambda: negative_binomial(11.0, mu=7.3), 2.3, 3.149218),
    ("poisson", lambda: Poisson([3.0]), 1.0, 1.143447),
    ("poisson", lambda: Poisson([2.3]), 1.5, 0.5001159),
    ("poisson", lambda: Poisson([1.5]), -1.0, 1.840259),
    ("t", lambda: StudentT([13.8], 2.3, 5.2), 11.1, 1.658226),
    ("t", lambda: StudentT([0.0], 1.0, 4.0), 0.7, 0.4387929),
    ("uniform", lambda: uniform(0.1, 3.1), 2.2, 0.37),
]  # fmt: skip

LOGS = [
    ("beta", lambda: Beta([0.7], 1.1), 0.3, -0.04344567),
    ("beta", lambda: Beta([0.9], 2.1, -5.0, 4.0), -3.0, 1.74193),
    ("beta", lambda: Beta([0.9], 2.1, -2.0, 4.0), -3.0, INF),
    ("binomial", lambda: stats.binom([10], 0.9), 8, 1.641392),
    ("binomial", lambda: stats.binom([10], 0.9), -8, INF),
    ("binomial", lambda: stats.binom([30], 0.5), 18, 2.518839),
    ("exponential", lambda: stats.expon(scale=[10.0]), 0.3, 2.332585),
    ("exponential", lambda: stats.expon(scale=[1 / 2.4]), -1.3, INF),
    ("exponential", lambda: stats.expon(scale=[1 / 0.9]), 0.0, 0.1053605),
    ("exponential2", lambda: stats.expon(loc=[7.0], scale=1.2), 8.3, 1.265655),
    ("exponential2", lambda: stats.expon(loc=[2.4], scale=4.5), -1.3, INF),
    ("exponential2", lambda: stats.expon(loc=[0.9], scale=2.0), 0.9, 0.6931472),
    ("gamma", lambda: Gamma([1.1], 1 / 0.7), 0.2, 0.6434138),
    ("gev", lambda: GEV([0.0], 1.0, 0.7), 0.3, 1.22455),
    ("gev", lambda: GEV([0.0], 1.0, -0.7), 0.3, 0.8151139),
    ("gev", lambda: GEV([0.0], 1.0, 0.0), 0.3, 1.040818),
    ("gev", lambda: GEV([0.0], 1.0, 0.7), -3.6, INF),
    ("gev", lambda: GEV([-4.0], 2.7, 1.7), -3.6, 2.226233),
    ("gpd", lambda: GPD([0.0], 1.0, 0.9), 0.8, 1.144907),
    ("gpd", lambda: GPD([0.0], 1.0, 0.9), -0.8, INF),
    ("gpd", lambda: GPD([0.0], 1.0, -0.9), 0.8, 0.1414406),
    ("gpd", lambda: GPD([0.0], 2.1, 0.0), 0.8, 1.12289),
    ("gpd", lambda: GPD([-21.0], 4.3, 2.3), -17.4, 2.998844),
    ("hypergeometric", lambda: stats.hypergeom(np.array([20]), 7, 12), 5, 1.251525),
    ("logistic", lambda: Logistic([13.8], 3.3), 17.1, 2.820446),
    ("logistic", lambda: Logistic([4.0], 0.5), 3.1, 1.412808),
    ("loglogistic", lambda: stats.fisk([1 / 0.9], scale=np.exp(0.1)), 3.0, 2.672729),
    ("loglogistic", lambda: stats.fisk([1 / 0.9], scale=np.exp(0.1)), 0.0, INF),
    ("loglogistic", lambda: stats.fisk([1 / 4.9], scale=np.exp(12.1)), 12.0, 6.299409),
    ("lognormal", lambda: LogNormal([0.1], 0.9), 3.0, 2.527762),
    ("lognormal", lambda: LogNormal([0.1], 0.9), 0.0, INF),
    ("lognormal", lambda: LogNormal([12.1], 4.9), 12.0, 6.91832),
    ("laplace", lambda: Laplace([0.0], 1.0), -3.0, 3.693147),
    ("laplace", lambda: Laplace([0.1], 1.0), -3.0, 3.793147),
    ("laplace", lambda: Laplace([0.1], 0.9), -3.0, 4.032231),
    ("loglaplace", lambda: stats.loglaplace([1 / 0.9], scale=np.exp(0.1)), 3.0, 2.795968),
    ("loglaplace", lambda: stats.loglaplace([1 / 0.9], scale=np.exp(0.1)), 0.0, INF),
    ("loglaplace", lambda: stats.loglaplace([1 / 4.9], scale=np.exp(12.1)), 12.0, 6.729553),
    ("mixnorm", lambda: three_normals([1 / 3, 1 / 3, 1 / 3]), 0.3, 1.019742),
    ("mixnorm", lambda: three_normals([0.3, 0.1, 0.6]), 0.3, 0.8235977),
    ("negbinom", lambda: negative_binomial(7.0, 0.8), 2.0, 1.448676),
    ("negbinom", lambda: negative_binomial(2.0, 0.5), 1.5, INF),
    ("negbinom", lambda: negative_binomial(17.0, 0.1), -1.0, INF),
    ("negbinom", lambda: negative_binomial(11.0, mu=7.3), 2.0, 3.247462),
    ("normal", lambda: Normal([0.1], 0.1), 0.0, -0.8836466),
    ("normal", lambda: Normal([13.8], 3.3), 17.1, 2.612861),
    ("normal", lambda: Normal([4.0], 0.5), 3.1, 1.845791),
    ("poisson", lambda: Poisson([3.0]), 1.0, 1.901388),
    ("poisson", lambda: Poisson([2.3]), 1.5, INF),
    ("poisson", lambda: Poisson([1.5]), -1.0, INF),
    ("t", lambda: StudentT([13.8], 2.3, 5.2), 11.1, 2.528398),
    ("t", lambda: StudentT([0.0], 1.0, 4.0), 0.7, 1.269725),
    ("tlogistic", lambda: Truncated(Logistic([3.5], 2.3), 0.0, 20.0), 4.9, 2.11202),
    ("tnormal", lambda: Truncated(Normal([2.9], 2.2), 1.5, 17.3), 4.2, 1.577806),
    ("tnormal", lambda: Truncated(Normal([2.9], 2.2), 1.5, 17.3), -1.0, INF),
    ("tt", lambda: Truncated(StudentT([3.1], 4.2, 2.9), 1.5, 17.3), 1.9, 2.002856),
    ("tt", lambda: Truncated(StudentT([3.1], 4.2, 2.9), 1.5, 17.3), -1.0, INF),
    ("uniform", lambda: uniform(-1.0, 2.1), 0.3, 1.131402),
    ("uniform", lambda: uniform(-15.2, -8.7), -17.9, INF),
    ("uniform", lambda: uniform(0.1, 3.1), 0.1, 1.098612),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "table"), [(metrics.crps, CRPS), (metrics.nll, LOGS)], ids=["crps", "logs"])
def test_laws(metric, table):
    wrong = [
        (name, y, expected, value)
        for name, law, y, expected in table
        if not np.isclose(value := metric([y], as_distribution(law())), expected)
    ]
    assert wrong == []


SAMPLES = np.array(
    [[-0.03574194, 0.06873582, 0.03098684, 0.07316138, 0.08498165],
     [-0.11957874, 0.26472238, -0.06324622, 0.43026451, -0.25640457],
     [-1.31340831, -1.43722153, -1.01696021, -0.70790148, -1.20432392],
     [1.26054027, 1.03477874, 0.61688454, 0.75305795, 1.19364529],
     [0.63192933, 0.33521695, 0.20626017, 0.43158264, 0.69518928],
     [0.83305233, 0.71965134, 0.96687378, 1.0000473, 0.82714425],
     [0.0128655, 0.03849841, 0.02459106, -0.02618909, 0.18687008],
     [-0.69399216, -0.59432627, -1.43629972, 0.01979857, -0.3286767],
     [1.92958764, 2.2678255, 1.86036922, 1.84766384, 2.03331138],
     [0.80847492, 1.11265193, 0.58995365, 1.04838184, 1.10439277]]
)  # fmt: skip
OUTCOMES = [0.19640722, -0.11300369, -1.0400268, 0.84306533, 0.36572078, 0.82487264, 0.14088773, -0.51936113,
            1.70706264, 0.75985908]  # fmt: skip
VECTORS = np.array([[0.79546742, 0.02461368], [0.4777960, 0.7584595], [0.2164079, 0.3181810], [0.5409873, 0.1319422]])


def test_samples_intervals_and_classes():
    law = Ensemble(SAMPLES, kind="discrete")
    assert np.isclose(metrics.threshold_weighted_crps(OUTCOMES, law, low=-1.0), 0.09489662)  # twcrps_ensemble
    assert np.isclose(metrics.threshold_weighted_crps(OUTCOMES, law, high=1.85), 0.0994809)
    five = members([9.8, 8.7, 11.9, 12.1, 13.4])
    assert np.isclose(metrics.dawid_sebastiani([11.6], five), 1.115645)  # dssuv_ensemble, bias=True
    y = [[0.2743836, 0.8146400]]
    assert np.isclose(metrics.energy_score(y, [VECTORS]), 0.3949793)  # es_ensemble, nrg
    assert np.isclose(metrics.energy_score(y, [VECTORS], estimator="fair"), 0.3274585)
    assert np.isclose(metrics.interval_score([0.1], low=[0.0], high=[0.4], coverage=0.5), 0.4)
    assert np.isclose(metrics.pinball_loss([0.3], quantiles=[[0.5]], levels=[0.2]), 0.16)  # quantile_score
    assert np.isclose(metrics.pinball_loss([0.3], quantiles=[[0.1]], levels=[0.2]), 0.04)
    assert np.isclose(metrics.brier_score([0], [0.271], classes=[0, 1]), 0.073441)
    assert np.isclose(metrics.log_loss([0], [0.481], classes=[0, 1]), 0.6558514)  # log_score
    four = [[0.01, 0.32, 0.44, 0.23]]
    assert np.isclose(metrics.ranked_probability_score([3], four, classes=[1, 2, 3, 4]), 0.1619)  # rps_score


def test_quantiles_and_intervals_of_a_normal_law_near_its_crps():
    crps = metrics.crps([0.0], Normal([0.0], 1.0))
    for many in (9, 99, 999):  # crps_quantile
        levels = np.arange(1, many + 1) / (many + 1)
        assert abs(1 - 2 * metrics.pinball_loss([0.0], quantiles=[ndtri(levels)], levels=levels) / crps) < 1 / many
    alpha = np.linspace(0.01, 0.99, 99)
    ends = {"low": [ndtri(alpha / 2)], "high": [ndtri(1 - alpha / 2)], "median": [0.0]}
    assert 1 - metrics.weighted_interval_score([0.0], coverage=1 - alpha, **ends) / crps <= 0.001 * crps


THIRD = [1 / 3, 1 / 3, 1 / 3]
FOURTH = [0.25, 0.25, 0.25, 0.25]
PROPERSCORING = [  # crps_ensemble
    (0, [0], None, 0.0), (0, [1], None, 1.0), (-1, [0], None, 1.0), (0, [-1], None, 1.0), (0, [0, 0], None, 0.0),
    (0, [0, 1], None, 0.25), (0, [1, 0], None, 0.25), (0, [1, 1], None, 1.0), (2, [0, 1], None, 1.25),
    (0, [-1, 1], None, 0.5), (0, [0, 0, 1], None, 1 / 9), (1, [0, 0, 1], None, 4 / 9),
    (0, [-1, 0, 0, 1], None, 1 / 8), (1.0, [0, 2], [0.5, 0.5], 0.5), (1.0, [2, 0], [0.5, 0.5], 0.5),
    (1.0, [0, 2], [0.8, 0.2], 0.68), (1.5, [0, 2], [0.8, 0.2], 0.98), (1.0, [0, 3], [0.5, 0.5], 0.75),
    (1.0, [-1, 3], [0.5, 0.5], 1.0), (1.0, [0, 2], [1, 0], 1.0), (1.0, [0, 1, 2], THIRD, 2 / 9),
    (1.5, [0, 1, 2], THIRD, 1 / 9 + 2.5 / 9), (-1.0, [0, 1, 2], THIRD, 14 / 9), (2.5, [0, 1, 2], THIRD, 5 / 9 + 0.5),
    (1.0, [0, 1, 2, 3], FOURTH, 3 / 8), (1.5, [0, 1, 2, 3], FOURTH, 6 / 16),
]  # fmt: skip


def test_ensembles_of_properscoring():
    wrong = [
        (y, samples, weights, expected, value)
        for y, samples, weights, expected in PROPERSCORING
        if abs((value := metrics.crps([y], members(samples, weights))) - expected) > 1e-7
    ]
    assert wrong == []


def test_normal_laws_of_properscoring():
    state = np.random.RandomState(1983)
    mu, sigma = state.normal(size=6), np.square(state.normal(size=6))
    y = state.normal(loc=mu, scale=sigma)
    quantiles = mu[:, None] + sigma[:, None] * ndtri((np.arange(1000) + 0.5) / 1000)
    expected = metrics.crps(y, Ensemble(quantiles, kind="discrete"), per_row=True)
    np.testing.assert_allclose(metrics.crps(y, Normal(mu, sigma), per_row=True), expected, rtol=1e-4)
