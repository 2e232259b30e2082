"""Empirical density calibration: e-beta, e-logistic and their kin."""

from __future__ import annotations

from contextvars import Context

import numpy as np
import pytest
from scipy.special import expit, log_expit, ndtr
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from calibrant import (
    BetaCalibrator,
    CalibratedRegressor,
    Gamma,
    IsotonicCalibrator,
    Normal,
    PlattCalibrator,
    Poisson,
    QuantileCalibrator,
    StudentT,
    load,
    metrics,
    save,
)
from calibrant.distributions import Distribution, concatenate
from calibrant.links import BetaLink
from calibrant.regression.density import (
    DensityCalibrator,
    given_thresholds,
    quantile_thresholds,
    segment_logits,
)
from calibrant.regression.segment_calibrators import CalibratorLink

KINDS = ["beta", "logistic", "isotonic", "binning"]
SETTINGS = [{"binary": kind} for kind in KINDS] + [{"within": "uniform"}, {"thresholds": "quantile"}, {"polish": True}]
every = pytest.mark.parametrize("settings", SETTINGS, ids=str)
pytestmark = pytest.mark.usefixtures("laws_only")


def toy(seed, n=360, n_test=5000):
    """Two regimes at random, and a straight line through them (Song et al. 2019, figure 1)."""
    rng = np.random.default_rng(seed)

    def draw(size):
        x = rng.uniform(-10, 40, size)
        return x, np.where(rng.random(size) < 0.5, 0.5 * x, 0.0) + np.sqrt(2) * rng.standard_normal(size)

    (x, y), (x_new, y_new) = draw(n), draw(n_test)
    slope, intercept = np.polyfit(x, y, 1)
    sigma = np.sqrt(np.mean(np.square(y - intercept - slope * x)))
    return Normal(intercept + slope * x, sigma), y, Normal(intercept + slope * x_new, sigma), y_new


def right(seed, n, n_test=5000, factor=1.0):
    """Forecasts that are right, or whose sigma is too small by a factor."""
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(0, 2, n + n_test), np.exp(0.4 * rng.standard_normal(n + n_test))
    y = mu + factor * sigma * rng.standard_normal(n + n_test)
    law = Normal(mu, sigma)
    return law[:n], y[:n], law[n:], y[n:]


def after(data, **settings):
    old, y, new, y_new = data
    return metrics.nll(y_new, DensityCalibrator(**settings).fit(old, y).transform(new))


def test_masses_by_hand():
    z = np.array([[-1.0, 0.5]])
    p = np.array([[ndtr(-1.0), ndtr(0.5) - ndtr(-1.0), ndtr(-0.5)]])
    assert np.allclose(expit(segment_logits(z)), p, rtol=1e-12)


def test_masses_do_not_saturate_in_either_tail():
    z = np.array([[-60.0, -50.0, 9.0, 10.0, 60.0]])
    x = segment_logits(z)
    mirrored = segment_logits(-z[:, ::-1])
    assert np.isfinite(x).all() and np.allclose(x, mirrored[:, ::-1], rtol=1e-12)
    assert x[0, 0] == pytest.approx(-0.5 * 60**2 - np.log(60 * np.sqrt(2 * np.pi)), rel=1e-6)
    assert x[0, 3] == pytest.approx(np.log(ndtr(-9.0)), rel=1e-4)


def test_thresholds_of_the_paper():
    y = np.array([0.0] * 10 + [4.0] * 10)
    cal = DensityCalibrator(n_thresholds=5).fit(Normal(np.zeros(20), 2.0), y)
    assert np.allclose(cal.thresholds_, [-2, 0, 2, 4, 6])


def test_other_thresholds():
    assert np.allclose(quantile_thresholds(np.array([1.0, 2, 3, 4]), np.array([1.0, 1, 1, 5]), 1), [3.5])
    assert np.allclose(given_thresholds([0, 1.5]), [0, 1.5])
    cal = DensityCalibrator(thresholds=[-1.0, 0.0, 1.0]).fit(*right(0, 100)[:2])
    assert cal.segment_probabilities(Normal([0.0], 1.0)).shape == (1, 4)


def test_segments_are_renormalised_binary_calibrators():
    old, y, new, _ = toy(0)
    cal = DensityCalibrator(n_thresholds=12, penalty=0.5).fit(old, y)
    mapped = cal.quantile_.transform(new[:50])
    p = np.diff(np.hstack([np.zeros((50, 1)), mapped.cdf(cal.thresholds_[None, :]), np.ones((50, 1))]))
    link = cal.link_
    assert isinstance(link, BetaLink)
    c = expit(link.a * np.log(p) - link.b * np.log1p(-p) + link.m)
    assert np.allclose(cal.segment_probabilities(new[:50]), c / c.sum(axis=1, keepdims=True), atol=1e-9)


def test_binary_fit_is_the_penalised_maximum():
    """The gradient of the stated objective, worked out anew, is zero at the polished fit."""
    old, y, _, _ = toy(1)
    cal = DensityCalibrator(n_thresholds=8, penalty=0.7, polish=True).fit(old, y)
    mapped = cal.quantile_.transform(old)
    x = np.clip(segment_logits(mapped.to_normal(cal.thresholds_[None, :])), -30, 30)
    event = np.searchsorted(cal.thresholds_, y)[:, None] == np.arange(9)
    link = cal.link_
    error = expit(link.a * log_expit(x) - link.b * log_expit(-x) + link.m) - event
    binned = expit(x)
    mean = (binned * log_expit(x)).sum(axis=0) / binned.sum(axis=0)
    shift = link.m + (link.a - 1) * mean
    gradient = [
        (error * log_expit(x)).sum(axis=0) + 0.7 * (link.a - 1 + shift * mean),
        -(error * log_expit(-x)).sum(axis=0) + 0.07 * (link.b - 1),
        error.sum(axis=0) + 0.7 * shift,
    ]
    free = [link.a > 0, link.b > 0, np.ones(9, dtype=bool)]
    for part, inner in zip(gradient, free, strict=True):
        assert np.abs(part[inner]).max() < 2e-3


@pytest.mark.parametrize(
    ("binary", "most"), [("beta", 2.72), ("logistic", 2.75), ("isotonic", 2.74), ("binning", 2.66)]
)
def test_two_regimes(binary, most):
    assert np.mean([after(toy(seed), binary=binary) for seed in range(5)]) < most  # base 3.11, quantile map 3.08


@pytest.mark.parametrize("binary", ["beta", "isotonic", "binning"])
@pytest.mark.parametrize(("n", "most"), [(300, 0.004), (1000, 0.002)])
def test_harmless_when_nothing_is_wrong(binary, n, most):
    draws = [right(seed, n) for seed in range(8)]
    costs = [after(data, binary=binary) - metrics.nll(data[3], data[2]) for data in draws]
    assert np.mean(costs) < most


def test_sigma_eight_times_too_small():
    rng = np.random.default_rng(0)
    mu = rng.normal(0, 2, 6000)
    y = mu + rng.standard_normal(6000)
    law = Normal(mu, 1 / 8)
    assert after((law[:1000], y[:1000], law[1000:], y[1000:])) < 1.45  # the base has 31, the truth 1.42


@every
def test_densities_are_valid(settings):
    old, y, new, _ = toy(2, n_test=20)
    cal = DensityCalibrator(**settings).fit(old, y)
    law = cal.transform(new)
    edges = np.unique(np.concatenate([np.linspace(-100, 120, 111), cal.thresholds_]))
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = 0.5 * np.diff(edges)[:, None]
    grid = (edges[:-1, None] + half * (1 + nodes)).ravel()
    pdf = law.pdf(grid[None, :]).reshape(20, -1, 12)
    assert np.all(pdf >= 0)
    masses = pdf @ weights * half[:, 0]
    assert np.allclose(masses, np.diff(law.cdf(edges[None, :])), atol=2e-5)  # the spline's own knots lie within cells
    assert np.allclose(masses.sum(axis=1), 1, atol=1e-4)
    assert np.all(np.diff(law.cdf(grid[None, :])) >= 0)
    levels = np.array([[1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6]])
    assert np.allclose(law.cdf(law.ppf(levels)), levels, atol=1e-9)


@pytest.mark.parametrize("binary", KINDS)
def test_moments_and_scores_by_segments_agree_with_quadrature(binary):
    old, y, new, y_new = toy(4, n_test=30)
    law = DensityCalibrator(binary=binary).fit(old, y).transform(new)
    assert np.allclose(law.mean(), Distribution.mean(law), rtol=1e-10)
    assert np.allclose(law.var(), Distribution.var(law), rtol=1e-10)
    assert np.allclose(law.std(), np.sqrt(Distribution.var(law)), rtol=1e-10)
    far = np.where(np.arange(30) % 3 == 0, y_new, np.where(np.arange(30) % 3 == 1, -70.0, 90.0))
    for outcome in (y_new, far, np.full(30, law.edges[7])):
        assert np.allclose(law.crps(outcome), Distribution.crps(law, outcome), rtol=1e-9)


@every
def test_moments_and_scores_agree_with_a_grid(settings):
    old, y, new, y_new = toy(3, n_test=3)
    law = DensityCalibrator(**settings).fit(old, y).transform(new)
    edges = np.unique(np.concatenate([np.linspace(-150, 150, 1501), law.edges, y_new]))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    half = 0.5 * np.diff(edges)[:, None]
    grid, weights = (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
    cdf = law.cdf(grid[None, :])
    mean = 150 - cdf @ weights
    assert law.mean() == pytest.approx(mean, rel=1e-6)
    squares = (law.pdf(grid[None, :]) * np.square(grid - mean[:, None])) @ weights
    assert law.var() == pytest.approx(squares, rel=1e-5)
    score = np.square(cdf - (grid >= y_new[:, None])) @ weights
    assert law.crps(y_new) == pytest.approx(score, abs=1e-6)


def test_uniform_within_segments():
    old, y, new, _ = toy(0, n_test=4)
    cal = DensityCalibrator(within="uniform").fit(old, y)
    law = cal.transform(new)
    left, right_ = cal.thresholds_[10], cal.thresholds_[11]
    pdf = law.pdf(np.linspace(left, right_, 7)[None, 1:-1])
    assert np.allclose(pdf, pdf[:, :1])
    assert np.allclose(pdf[:, 0] * (right_ - left), cal.segment_probabilities(new)[:, 11])
    base = DensityCalibrator().fit(old, y)
    assert np.allclose(base.segment_probabilities(new), cal.segment_probabilities(new))


@every
def test_weight_two_is_the_row_twice(settings):
    old, y, new, _ = toy(0, n_test=50)
    w = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = DensityCalibrator(**settings).fit(old, y, sample_weight=w).transform(new)
    lines = np.repeat(np.arange(len(y)), w)
    repeated = DensityCalibrator(**settings).fit(old[lines], y[lines]).transform(new)
    levels = [0.05, 0.5, 0.95]
    assert np.allclose(weighted.quantiles(levels), repeated.quantiles(levels), rtol=1e-5, atol=1e-5)


@every
def test_same_answer_twice_and_from_single_precision(settings):
    old, y, new, y_new = toy(0, n_test=50)
    one, two = (clone(DensityCalibrator(**settings)).fit(old, y).transform(new).cdf(y_new) for _ in range(2))
    assert np.array_equal(one, two)
    single = Normal(old.loc.astype(np.float32), old.scale.astype(np.float32))
    assert np.allclose(DensityCalibrator(**settings).fit(single, y).transform(new).cdf(y_new), one, atol=1e-5)


@pytest.mark.parametrize("n", [2, 5, 10])
def test_few_rows_fall_back_and_say_so(n):
    old, y, new, y_new = right(0, n)
    with pytest.warns(UserWarning, match=f"{n} rows are too few to calibrate segments; only the quantile map is used"):
        law = DensityCalibrator().fit(old, y).transform(new)
    assert np.array_equal(law.cdf(y_new), QuantileCalibrator().fit(old, y).transform(new).cdf(y_new))


@pytest.mark.filterwarnings("ignore:DensityCalibrator made the probabilistic:UserWarning")
@pytest.mark.parametrize("binary", KINDS)
def test_odd_data_stays_finite(binary):
    rng = np.random.default_rng(0)
    mu = rng.normal(size=200)
    y = mu + rng.standard_normal(200)
    cases = {
        "constant forecasts": (Normal(np.zeros(200), 1.0), y),
        "constant outcomes": (Normal(mu, 1.0), np.full(200, 3.0)),
        "duplicated rows": (Normal(np.repeat(mu[:4], 50), 1.0), np.repeat(y[:4], 50)),
        "an outlier": (Normal(mu, 1.0), np.where(np.arange(200) == 7, 50.0, y)),
        "very different widths": (Normal(mu, np.exp(rng.normal(0, 3, 200))), y),
    }
    for name, (law, outcomes) in cases.items():
        cal = Context().run(DensityCalibrator(binary=binary).fit, law, outcomes)  # it looks back here
        new = cal.transform(law)
        assert np.isfinite(new.logpdf(outcomes)).all(), name
        assert np.isfinite(new.logpdf(np.full(200, 60.0))).all(), name  # outside the thresholds
        assert np.isfinite(new.interval(0.999)).all(), name


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units_do_not_matter(unit):
    old, y, new, y_new = toy(0, n_test=20)
    plain = DensityCalibrator().fit(old, y).transform(new).cdf(y_new)
    scaled = DensityCalibrator().fit(Normal(old.loc * unit, old.scale * unit), y * unit)
    assert np.allclose(scaled.transform(Normal(new.loc * unit, new.scale * unit)).cdf(y_new * unit), plain, atol=1e-7)


@pytest.mark.parametrize("within", ["base", "uniform"])
def test_slices_and_joins(within):
    old, y, new, y_new = toy(0, n_test=30)
    law = DensityCalibrator(within=within).fit(old, y).transform(new)
    whole = concatenate([law[:10], law[10:]])
    assert type(whole) is type(law) and np.allclose(whole.cdf(y_new), law.cdf(y_new))
    assert law[3].cdf(y_new[3:4]) == pytest.approx(law.cdf(y_new)[3:4])


@pytest.mark.parametrize("within", ["base", "uniform"])
def test_heavy_tails_keep_their_index_and_support_is_kept(within):
    rng = np.random.default_rng(0)
    mu = rng.normal(size=2000)
    y = mu + 3 * rng.standard_t(3, 2000)
    law = DensityCalibrator(within=within).fit(StudentT(mu, 1.0, 3.0), y).transform(StudentT([0.0], 1.0, 3.0))
    far = np.array([[1e8, 1e9, 1e10]])
    assert np.diff(law.logsf(far)).ravel() / np.log(10) == pytest.approx([-3, -3], abs=0.7)
    counted = rng.gamma(1.0, 3.0, 2000)
    law = DensityCalibrator().fit(Gamma(np.full(2000, 4.0), 1.0), counted).transform(Gamma([4.0], 1.0))
    assert law.cdf([0.0])[0] == 0 and np.all(law.sample(1000, random_state=0) > 0)


def test_counts_stay_counts():
    rng = np.random.default_rng(0)
    rate = np.exp(rng.normal(2, 0.5, 4000))
    y = rng.poisson(rate * rng.gamma(4, 1 / 4, 4000))
    law = DensityCalibrator().fit(Poisson(rate[:2000]), y[:2000]).transform(Poisson(rate[2000:]))
    assert law.is_discrete and np.array_equal(law.median(), np.round(law.median()))
    assert metrics.nll(y[2000:], law) < metrics.nll(y[2000:], Poisson(rate[2000:])) - 0.2
    with pytest.raises(ValueError, match="`within` must be 'base' for forecasts with atoms"):
        DensityCalibrator(within="uniform").fit(Poisson(rate), y)


def test_inside_a_calibrated_regressor():
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    x = rng.uniform(-10, 40, (400, 1))
    y = np.where(rng.random(400) < 0.5, 0.5 * x[:, 0], 0.0) + rng.standard_normal(400)
    model = CalibratedRegressor(LinearRegression(), calibrator=DensityCalibrator(), cv=3)
    with pytest.warns(UserWarning, match="made the probabilistic calibration worse"):  # nothing else
        Context().run(model.fit, x, y)  # it looks back here
    plain = CalibratedRegressor(LinearRegression(), calibrator=QuantileCalibrator(), cv=3).fit(x, y)
    assert metrics.nll(y, model.predict_dist(x)) < metrics.nll(y, plain.predict_dist(x)) - 0.2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"binary": "platt"}, "`binary` must be one of 'beta', 'logistic', 'isotonic', 'binning'; got 'platt'"),
        ({"within": "flat"}, "`within` must be one of 'base', 'uniform'; got 'flat'"),
        ({"n_thresholds": 1}, "`n_thresholds` must be a whole number of at least 2; got 1"),
        ({"thresholds": "odd"}, "`thresholds` must be one of 'even', 'quantile'; got 'odd'"),
        ({"thresholds": [1.0, 1.0]}, "`thresholds` must be a strictly increasing column"),
        ({"thresholds": [1.0, np.nan]}, r"`thresholds` must be finite; 1 of 2 values is not, first thresholds\[1\]"),
        ({"penalty": -1.0}, "`penalty` must be 'evidence' or a number of at least 0; got -1.0"),
        ({"penalty": np.inf}, "`penalty` must be 'evidence' or a number of at least 0; got inf"),
        ({"penalty": 0, "binary": "binning"}, "`penalty` must not be 0 for binary='binning'"),
        ({"penalty": 1, "binary": BetaCalibrator()}, "`penalty` must be 'evidence' or 0 for a calibrator"),
        ({"polish": True, "binary": BetaCalibrator()}, r"`polish` must be False for binary=BetaCalibrator\(\)"),
        ({"base_map": "spline"}, "`base_map` must be one of 'quantile', None; got 'spline'"),
        ({"counted": "edges"}, "`counted` must be one of 'thresholds', 'segments'; got 'edges'"),
        ({"binary": "binning", "polish": True}, "`polish` must be False for binary='binning'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        DensityCalibrator(**settings).fit(Normal(np.zeros(20), 1.0), np.linspace(-1, 1, 20))


# ---- as published: Song et al. (2018), section 4 ----
PUBLISHED = {"base_map": None, "penalty": 0, "within": "uniform"}


def masses(law, edges):
    """p_i = G(t_i) - G(t_{i-1}), t_0 = -inf and t_K = inf."""
    ends = np.zeros((len(law), 1))
    return np.diff(np.hstack([ends, law.cdf(edges[None, :]), 1 + ends]))


def one_vs_rest(old, y, new, edges, features):
    """Section 4 as it is written, by scikit-learn's unpenalised logistic regression, (n, segments)."""
    calibrated = []
    p_old, p_new = masses(old, edges), masses(new, edges)
    low, high = np.append(-np.inf, edges), np.append(edges, np.inf)
    for i in range(len(edges) + 1):
        event = (low[i] < y) & (y <= high[i])
        if not event.any():
            calibrated.append(np.zeros(len(new)))
            continue
        x, x_new = features(p_old[:, i]), features(p_new[:, i])
        mean, spread = x.mean(axis=0), x.std(axis=0)
        fit = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        fit.fit((x - mean) / spread, event)
        calibrated.append(fit.predict_proba((x_new - mean) / spread)[:, 1])
    c = np.column_stack(calibrated)
    return c / c.sum(axis=1, keepdims=True)


def beta_features(p):
    return np.column_stack([np.log(p), -np.log1p(-p)])  # z = [ln s, -ln(1 - s)]


@pytest.mark.parametrize("counted", ["thresholds", "segments"])
@pytest.mark.parametrize(("binary", "features"), [("beta", beta_features), ("logistic", lambda p: p[:, None])])
def test_published_segments_are_independent_fits(binary, features, counted):
    old, y, new, _ = toy(0, n=1500, n_test=300)
    cal = DensityCalibrator(binary, 14, counted=counted, **PUBLISHED).fit(old, y)
    assert cal.quantile_ is None and len(cal.thresholds_) == (14 if counted == "thresholds" else 13)
    expected = one_vs_rest(old, y, new, cal.thresholds_, features)
    assert np.allclose(cal.segment_probabilities(new), expected, atol=1e-6)
    ours = DensityCalibrator(binary, 14, counted=counted).fit(old, y)
    assert np.abs(ours.segment_probabilities(new) - expected).max() > 0.01


def test_signs_of_a_and_b_are_free_as_published():
    old, y, _, _ = toy(0, n=1500)
    link = DensityCalibrator("beta", 14, **PUBLISHED).fit(old, y).link_
    assert isinstance(link, BetaLink) and min(link.a.min(), link.b.min()) < 0


def test_k_segments_cut_the_range_into_k_equal_parts():
    y = np.array([0.0] * 10 + [4.0] * 10)
    law = Normal(np.zeros(20), 2.0)
    cal = DensityCalibrator(n_thresholds=4, counted="segments", base_map=None).fit(law, y)
    assert np.allclose(cal.thresholds_, [0, 2, 4]) and cal.segment_probabilities(law[:1]).shape == (1, 4)
    few = DensityCalibrator(n_thresholds=3, counted="segments", thresholds="quantile").fit(law, np.arange(20.0))
    assert np.allclose(few.thresholds_, [6.5, 13.5])


@pytest.mark.parametrize(
    "binary",
    [BetaCalibrator(smoothing=0), IsotonicCalibrator(), PlattCalibrator(scores_are="margins"),
     BetaCalibrator("am", scores_are="logits"), IsotonicRegression(out_of_bounds="clip"), LogisticRegression()],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_any_binary_calibrator(binary, tmp_path):
    old, y, new, y_new = toy(0, n=400, n_test=50)
    edges = np.array([-3.0, 0.0, 2.0, 6.0, 60.0])  # no outcome beyond 60
    cal = DensityCalibrator(binary, thresholds=edges, base_map=None, penalty=0).fit(old, y)
    p, p_new, which, parts = masses(old, edges), masses(new, edges), np.searchsorted(edges, y), []
    logit = getattr(binary, "scores_are", "") == "logits"
    for i in range(5):
        x, x_new = (np.log(q / (1 - q)) if logit else q for q in (p[:, i], p_new[:, i]))
        column = isinstance(binary, LogisticRegression)
        fit = clone(binary).fit(x[:, None] if column else x, (which == i).astype(int))
        out = fit.predict_proba(x_new[:, None]) if column else fit.transform(x_new)
        parts.append(out if out.ndim == 1 else out[:, 1])
    c = np.column_stack([*parts, np.zeros(50)])
    assert np.allclose(cal.segment_probabilities(new), c / c.sum(axis=1, keepdims=True), atol=1e-9)
    if type(binary).__module__.startswith("sklearn"):
        with pytest.raises(TypeError, match="cannot be saved: only calibrators of this library"):
            save(cal, tmp_path / "e")
        return
    save(cal, tmp_path / "e")
    again = load(tmp_path / "e")
    assert repr(again) == repr(cal)
    np.testing.assert_array_equal(again.transform(new).logpdf(y_new), cal.transform(new).logpdf(y_new))


def test_calibrators_take_weights_and_every_kind_of_data():
    old, y, new, y_new = toy(0, n=200, n_test=50)
    w = np.random.default_rng(0).integers(0, 4, len(y))
    lines = np.repeat(np.arange(len(y)), w)
    settings = {"binary": BetaCalibrator(), "n_thresholds": 8, "base_map": None}
    weighted = DensityCalibrator(**settings).fit(old, list(y.astype(np.float32)), sample_weight=list(w)).transform(new)
    repeated = DensityCalibrator(**settings).fit(old[lines], y[lines]).transform(new)
    assert np.allclose(weighted.cdf(y_new), repeated.cdf(y_new), atol=1e-6)


def test_nothing_that_calibrates(tmp_path):
    with pytest.raises(TypeError, match="`binary` must have fit and one of transform, predict_proba, predict; got 3"):
        DensityCalibrator(3).fit(Normal(np.zeros(20), 1.0), np.linspace(-1, 1, 20))
    with pytest.warns(UserWarning, match="5 rows are too few to calibrate segments; forecasts stay as they are"):
        same = DensityCalibrator(base_map=None).fit(Normal(np.zeros(5), 1.0), np.arange(5.0))
    assert np.array_equal(same.transform(Normal([1.0], 2.0)).cdf([0.3]), Normal([1.0], 2.0).cdf([0.3]))


def test_rows_with_no_probability_left_keep_the_forecast():
    """Isotonic calibrators may all say 0: there is nothing to divide by."""
    old, y, _, _ = toy(0, n=400)
    cal = DensityCalibrator(IsotonicRegression(out_of_bounds="clip"), 6, base_map=None, penalty=0).fit(old, y)
    law = cal.transform(Normal([0.0, -500.0, 500.0], [1e-3, 1.0, 1.0]))
    assert np.isfinite(law.interval(0.9)).all() and np.isfinite(law.logpdf([0.0, -500.0, 500.0])).all()


def test_log_odds_of_any_binary_calibrator(rng):
    logits, which = rng.normal(0, 2, (200, 3)), rng.integers(0, 3, 200)
    link = CalibratorLink.fit(PlattCalibrator(), logits, which, np.ones(200))
    p = np.exp(link.log_probability(logits))
    np.testing.assert_allclose(link.log_odds(logits), np.log(p / (1 - p)), rtol=1e-9)
