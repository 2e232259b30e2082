"""Calibration by a classifier of thresholds."""

from __future__ import annotations

from contextvars import Context
from functools import partial

import numpy as np
import pytest
from scipy.signal import find_peaks
from scipy.special import logsumexp, ndtr, ndtri
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from calibrant import Normal, Poisson, load, metrics, save
from calibrant.maps.probability_rows import log_segment_masses
from calibrant.regression.gpc import GPCCalibrator
from calibrant.regression.gpc import calibrator as gpc
from calibrant.regression.gpc.designs import Dense, Products
from calibrant.regression.gpc.grid import GridEvidence, GridProcess, grid_process
from calibrant.regression.gpc.laplace import Evidence, Pairs
from calibrant.regression.gpc.likelihoods import LIKELIHOODS, Logit
from calibrant.regression.gpc.pairs import all_pairs, drawn_pairs
from calibrant.regression.gpc.process import Process
from calibrant.regression.gpc.projection import log_masses

pytestmark = pytest.mark.usefixtures("laws_only")


def toy(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The two lines of Song et al. (2019), figure 1."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-10, 40, n)
    return x, np.where(rng.random(n) < 0.5, 0.5 * x, 0.0) + rng.normal(0, np.sqrt(2), n)


@pytest.fixture(scope="module")
def fitted() -> tuple[GPCCalibrator, Normal, np.ndarray]:
    x, y = toy(0, 360)
    line = np.polyfit(x, y, 1)
    sigma = np.std(y - np.polyval(line, x))
    new, outcome = toy(100, 2000)
    return GPCCalibrator().fit(Normal(np.polyval(line, x), sigma), y), Normal(np.polyval(line, new), sigma), outcome


def test_sees_the_second_mode(fitted):
    calibrator, forecasts, y = fitted
    law = calibrator.transform(forecasts)
    assert metrics.nll(y, law) < 2.42 < 3.0 < metrics.nll(y, forecasts)  # with jumps at the grid it was 2.44
    assert metrics.crps(y[:500], law[:500]) < metrics.crps(y[:500], forecasts[:500])


def test_every_result_is_a_proper_law(fitted):
    calibrator, forecasts, _ = fitted
    law = calibrator.transform(forecasts[:50])
    grid = np.linspace(*calibrator.range_, 255 * 16 + 1)[None, :]  # the density jumps at its 256 thresholds
    cdf, pdf = law.cdf(grid), law.pdf(grid)
    assert np.all(np.diff(cdf) >= 0) and np.all(pdf >= 0)
    middle = 0.5 * (grid[:, 1:] + grid[:, :-1])
    mass = (law.pdf(middle) * np.diff(grid)).sum(axis=1) + cdf[:, 0] + law.sf(grid)[:, -1]
    assert np.allclose(mass, 1, atol=1e-4)
    assert np.allclose(law.cdf(law.quantiles([0.1, 0.5, 0.9])), [[0.1, 0.5, 0.9]], atol=1e-8)
    far = np.array([[-1e3, 1e3]])
    assert np.isfinite(law.logpdf(far)).all()


def test_the_raw_classifier_is_not_monotone(fitted):
    """Which is why its finite differences are no density (SPEC's trap)."""
    calibrator, forecasts, _ = fitted
    t = np.linspace(*calibrator.range_, 257)
    raw = calibrator.probability(forecasts[:200].to_normal(t[None, :]), t[None, :])
    assert raw.shape == (200, 257) and np.all((raw > 0) & (raw < 1))
    assert np.mean(np.diff(raw) < 0) > 0.01


def test_costs_little_when_nothing_is_wrong(rng):
    mu = rng.normal(0, 2, 3000)
    y = mu + rng.standard_normal(3000)
    law = GPCCalibrator().fit(Normal(mu[:1000], 1.0), y[:1000]).transform(Normal(mu[1000:], 1.0))
    assert metrics.nll(y[1000:], law) < metrics.nll(y[1000:], Normal(mu[1000:], 1.0)) + 0.012


def test_forecasts_that_are_far_too_narrow(rng):
    mu = rng.normal(0, 2, 2000)
    y = mu + 8 * rng.standard_normal(2000)
    law = GPCCalibrator().fit(Normal(mu[:1000], 1.0), y[:1000]).transform(Normal(mu[1000:], 1.0))
    assert metrics.nll(y[1000:], law) < metrics.nll(y[1000:], Normal(mu[1000:], 8.0)) + 0.03


def test_two_fits_are_the_same_to_the_bit_and_slices_agree(fitted):
    calibrator, forecasts, y = fitted
    x, outcome = toy(3, 120)
    first, second = (GPCCalibrator(n_basis=12).fit(Normal(0.25 * x, 5.0), outcome).coefficients_ for _ in range(2))
    assert np.array_equal(first, second)
    whole, part = calibrator.transform(forecasts[:20]), calibrator.transform(forecasts[5:9])
    assert np.allclose(whole[5:9].cdf(y[5:9]), part.cdf(y[5:9]))


def test_weight_two_is_the_row_twice():
    x, y = toy(5, 150)
    w = np.random.default_rng(0).integers(1, 3, 150)
    law = Normal(0.25 * x, 5.0)
    weighted = GPCCalibrator(n_basis=10).fit(law, y, sample_weight=w).transform(law[:5])
    repeated = GPCCalibrator(n_basis=10).fit(law[np.repeat(np.arange(150), w)], np.repeat(y, w)).transform(law[:5])
    levels = [0.1, 0.5, 0.9]
    assert np.allclose(weighted.quantiles(levels), repeated.quantiles(levels), rtol=0.02, atol=0.05)


def test_few_rows_keep_the_quantile_map_and_say_so():
    forecasts = Normal(np.zeros(4), 1.0)
    with pytest.warns(UserWarning, match="4 rows are too few"):
        calibrator = GPCCalibrator().fit(forecasts, [0.1, -0.4, 1.0, 0.3])
    assert np.isfinite(calibrator.transform(forecasts).interval(0.9)).all()
    assert calibrator.probability(ndtri(0.3), 0.0) == pytest.approx(0.3)


def test_constant_forecasts_and_outcomes_and_outliers(rng):
    look_back = partial(Context().run, GPCCalibrator(n_basis=8).fit)
    law = look_back(Normal(np.zeros(60), 1.0), np.full(60, 2.0)).transform(Normal([0.0], 1.0))
    assert np.isfinite(law.logpdf([2.0])).all()
    y = rng.standard_normal(200)
    y[0] = 50.0
    law = look_back(Normal(np.zeros(200), 1.0), y).transform(Normal([0.0], 1.0))
    assert np.isfinite(law.logpdf([50.0])).all() and law.std()[0] < 10


@pytest.mark.parametrize("name", ["n_thresholds", "n_basis", "n_pairs", "n_grid"])
def test_bad_settings(name):
    with pytest.raises(ValueError, match=f"`{name}` must be a whole number of at least 2; got 1"):
        GPCCalibrator(**{name: 1}).fit(Normal([0.0], 1.0), [1.0])


@pytest.mark.parametrize("name", ["mean", "inputs", "lengths", "quantile_map", "link", "kernel"])
def test_unknown_settings(name):
    with pytest.raises(ValueError, match=f"`{name}` must be one of .*; got 'odd'"):
        GPCCalibrator(**{name: "odd"}).fit(Normal([0.0], 1.0), [1.0])


def test_the_weight_of_a_pair_may_be_given():
    x, y = toy(0, 120)
    law, small = Normal(0.25 * x, 6.0), {"n_thresholds": 8, "n_basis": 8, "n_grid": 16}
    chosen = GPCCalibrator(**small).fit(law, y)
    given = GPCCalibrator(**small, temper=chosen.temper_).fit(law, y)
    assert given.temper_ == chosen.temper_ and np.array_equal(given.coefficients_, chosen.coefficients_)
    strong = GPCCalibrator(**small, temper=100).fit(law, y)
    assert strong.temper_ == 100.0 and np.abs(strong.coefficients_).sum() > np.abs(chosen.coefficients_).sum()
    with pytest.raises(ValueError, match="`temper` must be a number above 0; got 0"):
        GPCCalibrator(**small, temper=0).fit(law, y)
    with pytest.raises(ValueError, match='`temper` must be None where `lengths` is "learn"; got 0.5'):
        GPCCalibrator(**small, lengths="learn", temper=0.5).fit(law, y)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_maps_of_rows_are_those_of_the_functions_themselves(link):
    x, y = toy(0, 300)
    law = Normal(0.25 * x, 6.0)
    calibrator = GPCCalibrator(24, link=link, temper=1.0).fit(law, y)
    new = calibrator._mapped(Normal(np.linspace(-9, 9, 37), np.geomspace(0.05, 40, 37)))
    knots = new.to_normal(calibrator._grid()[None, :])
    base, found = log_segment_masses(knots), calibrator._rows(new)
    masses = log_masses(calibrator._probabilities(knots, calibrator._grid(), calibrator.coefficients_), base)
    some = base > -600
    np.testing.assert_allclose(
        (found.log_rise + base)[some], (masses - logsumexp(masses, axis=1)[:, None])[some], atol=1e-7
    )


def test_densities_are_smooth(fitted):
    """No jump at a threshold of the grid, and two modes where there are two lines."""
    calibrator, forecasts, _ = fitted
    right = forecasts[np.argsort(forecasts.loc)[-40:]]
    law = calibrator.transform(right)
    grid, step = np.linspace(*calibrator.range_, 256)[None, 1:-1], 1e-9
    np.testing.assert_allclose(law.pdf(grid - step), law.pdf(grid + step), rtol=1e-5)
    density = law.pdf(np.linspace(-8, 28, 3000)[None, :])
    modes = [len(find_peaks(line, prominence=0.02 * line.max())[0]) for line in density]
    assert set(modes) <= {2, 3} and np.mean(modes) < 2.2


# ---- as published: Song et al. (2018), section 5 ----
PUBLISHED = {"mean": "zero", "inputs": "q", "lengths": "learn", "quantile_map": False, "kernel": "rbf"}
PHI = {"logit": lambda h: 1 / (1 + np.exp(-h)), "probit": ndtr}


def few_pairs():
    rng = np.random.default_rng(4)
    x = np.column_stack([rng.uniform(0, 1, 40), rng.uniform(-2, 2, 40)])
    return x, (x[:, 0] + 0.3 * rng.standard_normal(40) > 0.5).astype(float)


def rbf(x, z, scale, lengths):
    """The RBF kernel with a length for each input."""
    square = sum(((x[:, None, d] - z[None, :, d]) / lengths[d]) ** 2 for d in range(2))
    return scale**2 * np.exp(-0.5 * square)


def laplace(K, b, link):
    """Eq. 10's integrand has its mode at h; the log of the Gaussian integral there (Rasmussen & Williams, eq. 3.32)."""
    sign, h, d = 2 * b - 1, np.zeros(len(b)), 1e-4

    def log_phi(v):
        return np.log(PHI[link](sign * v))

    for _ in range(50):
        g = (log_phi(h + d) - log_phi(h - d)) / (2 * d)
        W = -(log_phi(h + d) - 2 * log_phi(h) + log_phi(h - d)) / d**2
        h = K @ np.linalg.solve(np.eye(len(b)) + W[:, None] * K, W * h + g)
    root = np.sqrt(W)
    inner = np.eye(len(b)) + root[:, None] * K * root
    value = log_phi(h).sum() - 0.5 * h @ np.linalg.solve(K, h) - 0.5 * np.linalg.slogdet(inner)[1]
    return value, h, W


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_evidence_is_the_papers_with_laplace(link):
    x, b = few_pairs()
    pairs = Pairs(np.empty((0, 0)), np.zeros(40), b, np.ones(40))
    evidence = Evidence(Process(x, np.ones(2), 1.0, "rbf", False), x, pairs, LIKELIHOODS[link])
    for flat in (np.log([1.5, 0.4, 0.9]), np.log([4.0, 0.2, 2.0])):

        def literal(p):
            K = rbf(x, x, np.exp(p[0]), np.exp(p[1:])) + 1e-8 * np.exp(2 * p[0]) * np.eye(40)
            return laplace(K, b, link)[0]

        value, gradient = evidence(flat)
        assert value == pytest.approx(literal(flat), abs=2e-4)
        steps = 1e-3 * np.eye(3)
        numeric = [(literal(flat + s) - literal(flat - s)) / 2e-3 for s in steps]
        np.testing.assert_allclose(gradient, numeric, atol=2e-3)
        own = [(evidence(flat + s)[0] - evidence(flat - s)[0]) / 2e-3 for s in steps]
        np.testing.assert_allclose(gradient, own, atol=1e-4)


def test_evidence_is_scikit_learns():
    x, b = few_pairs()
    pairs = Pairs(np.empty((0, 0)), np.zeros(40), b, np.ones(40))
    value, gradient = Evidence(Process(x, np.ones(2), 1.0, "rbf", False), x, pairs, LIKELIHOODS["logit"])(
        np.log([1.5, 0.4, 0.9])
    )
    peer = GaussianProcessClassifier(ConstantKernel(1.5**2) * RBF([0.4, 0.9]), optimizer=None).fit(x, b)
    expected, slopes = peer.log_marginal_likelihood(np.log([1.5**2, 0.4, 0.9]), eval_gradient=True)
    assert value == pytest.approx(expected, abs=1e-4)
    np.testing.assert_allclose(gradient, slopes * [2, 1, 1], atol=1e-3)  # of log s, not log s²


@pytest.mark.parametrize("radial", ["rbf", "matern52"])
@pytest.mark.parametrize("linear", [False, True])
def test_gradient_of_sparse_evidence(radial, linear):
    x, b = few_pairs()
    w = np.random.default_rng(1).uniform(0.5, 2, 40)
    pairs = Pairs(np.empty((0, 0)), 0.3 * x[:, 1], b, w)
    evidence = Evidence(Process(x[:12], np.ones(2), 1.0, radial, linear), x, pairs, LIKELIHOODS["logit"])
    flat = np.log([1.5, 0.4, 0.9])
    numeric = [(evidence(flat + s)[0] - evidence(flat - s)[0]) / 2e-4 for s in 1e-4 * np.eye(3)]
    np.testing.assert_allclose(evidence(flat)[1], numeric, atol=1e-4)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_predictions_are_averaged_over_the_posterior(link):
    """With no more pairs than landmarks: the exact process' latent mean and variance, and an integral over them."""
    x, y = toy(2, 15)
    law = Normal(0.25 * x, 5.0)
    calibrator = GPCCalibrator(4, n_basis=64, link=link, **PUBLISHED).fit(law, y)
    t = np.linspace(*calibrator.range_, 4)
    points = calibrator._features(law, t)
    assert calibrator.temper_ == 1 and len(calibrator._basis.landmarks) == 60
    scale, lengths = calibrator._basis.scale, calibrator._basis.lengths
    K = rbf(points, points, scale, lengths) + 1e-8 * scale**2 * np.eye(60)
    _, h, W = laplace(K, (y[:, None] <= t).astype(float).ravel(), link)
    q, at = np.array([0.1, 0.4, 0.5, 0.9]), np.array([-3.0, 2.0, 8.0, 11.0])
    low, high = calibrator.range_
    new = np.column_stack([q, 4 * (at - low) / (high - low) - 2])
    cross = rbf(new, points, scale, lengths)
    mean = cross @ np.linalg.solve(K, h)
    variance = scale**2 - np.sum(cross * np.linalg.solve(K + np.diag(1 / W), cross.T).T, axis=1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    expected = PHI[link](mean[:, None] + np.sqrt(variance)[:, None] * nodes) @ weights / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(calibrator.probability(ndtri(q), at), expected, atol=2e-3)


def test_learned_lengths_are_the_most_probable():
    x, y = toy(2, 60)
    law = Normal(0.25 * x, 5.0)
    calibrator = GPCCalibrator(8, n_basis=30, **PUBLISHED).fit(law, y)
    t = np.linspace(*calibrator.range_, 8)
    pairs = Pairs(np.empty((0, 0)), np.zeros(480), (y[:, None] <= t).astype(float).ravel(), np.ones(480))
    found = calibrator._basis
    evidence = Evidence(found, calibrator._features(law, t), pairs, LIKELIHOODS["logit"])
    best = np.log(np.append(found.scale, found.lengths))
    top = evidence(best)[0]
    assert all(evidence(best + s)[0] < top + 1e-3 for s in (*0.3 * np.eye(3), *-0.3 * np.eye(3)))


# ---- landmarks on a grid: the exact classifier ----
def test_sums_over_products_are_those_of_a_table():
    rng = np.random.default_rng(0)
    f, g, theta, w = rng.normal(size=(4, 3, 2)), rng.normal(size=(4, 5)), rng.normal(size=10), rng.uniform(size=12)
    products, table = Products(f, g), Dense(np.einsum("jia,jc->ijac", f, g).reshape(12, 10))
    root = rng.normal(size=(10, 10))
    for name, given in {"combined": theta, "gathered": w, "gram": w, "variances": root @ root.T}.items():
        np.testing.assert_allclose(getattr(products, name)(given), getattr(table, name)(given), atol=1e-12)
    np.testing.assert_allclose(products.squares(), table.squares())


def rows_and_thresholds():
    rng = np.random.default_rng(4)
    x, t = rng.uniform(0, 1, (10, 6)), np.linspace(-2, 2, 6)
    points = np.column_stack([x.ravel(), np.tile(t, 10)])
    return x, t, points, (x.ravel() + 0.3 * np.sin(points[:, 1]) + 0.2 * rng.standard_normal(60) > 0.5).astype(float)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_evidence_on_a_grid_is_the_papers_with_laplace(link):
    x, t, points, b = rows_and_thresholds()
    pairs = Pairs(Dense(np.empty((0, 0))), np.zeros(60), b, np.ones(60))
    evidence = GridEvidence(grid_process((0.0, 1.0), 6, np.array([0.2, 0.8])), x, t, pairs, LIKELIHOODS[link])
    for flat in (np.log([1.5, 0.4, 0.9]), np.log([8.0, 0.8, 1.5]), np.log([4.0, 0.2, 2.0])):
        K = rbf(points, points, np.exp(flat[0]), np.exp(flat[1:])) + 1e-8 * np.exp(2 * flat[0]) * np.eye(60)
        assert evidence(flat) == pytest.approx(laplace(K, b, link)[0], abs=2e-4)


def test_lengths_are_those_that_a_grid_resolves():
    x, t, _, b = rows_and_thresholds()
    pairs = Pairs(Dense(np.empty((0, 0))), np.zeros(60), b, np.ones(60))
    evidence = GridEvidence(grid_process((0.0, 1.0), 6, np.array([0.2, 0.35])), x, t, pairs, Logit())
    best = evidence.best()
    flat = np.log(np.append(best.scale, best.lengths))
    assert best.lengths[0] > 1.39 / 15 and best.lengths[1] > 0.799  # gaps: 1 / 15, and 4 / 5 between thresholds
    free = np.append(True, best.lengths > 1.01 * best.shortest(0.8))
    steps = [sign * step for step in 0.2 * np.eye(3)[free] for sign in (1, -1)]
    assert all(evidence(flat + step) < evidence(flat) + 1e-4 for step in steps)
    fine = grid_process((0.0, 1.0), 64, np.array([0.2, 0.35]))
    assert fine.shortest(4 / 63)[1] == pytest.approx(1.4 * 4 / 19)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_predictions_on_a_grid_are_the_exact_classifiers(link):
    x, y = toy(2, 40)
    law = Normal(0.25 * x, 5.0)
    calibrator = GPCCalibrator(12, n_basis=None, link=link, **PUBLISHED).fit(law, y)
    t = np.linspace(*calibrator.range_, 12)
    points, process = calibrator._features(law, t), calibrator._basis
    K = rbf(points, points, process.scale, process.lengths) + 1e-9 * process.scale**2 * np.eye(480)
    _, h, W = laplace(K, (y[:, None] <= t).astype(float).ravel(), link)
    q, at = np.array([0.1, 0.4, 0.5, 0.9]), np.array([-3.0, 2.0, 8.0, 11.0])
    new = np.column_stack([q, calibrator._at.place(at)])
    cross = rbf(new, points, process.scale, process.lengths)
    mean = cross @ np.linalg.solve(K, h)
    variance = process.scale**2 - np.sum(cross * np.linalg.solve(K + np.diag(1 / W), cross.T).T, axis=1)
    expected = LIKELIHOODS[link].averaged(mean, variance)
    np.testing.assert_allclose(calibrator.probability(ndtri(q), at), expected, atol=1e-4)
    table = calibrator._probabilities(np.tile(ndtri(q)[:, None], 4), at, calibrator.coefficients_)
    np.testing.assert_allclose(np.diag(table), calibrator.probability(ndtri(q), at), atol=1e-12)


@pytest.mark.filterwarnings("ignore:GPCCalibrator made")
def test_a_number_of_pairs():
    x, y = toy(1, 100)
    law, t = Normal(0.25 * x, 5.0), np.linspace(-8, 20, 10)
    table = drawn_pairs(law, y, np.arange(100.0), t, 205)
    rows = table.weights.astype(int)
    assert rows.shape == (20, 10) and all(len(set(column)) == 20 for column in rows.T)
    assert not np.array_equal(rows[:, 0], rows[:, 1])
    whole = all_pairs(law, y, np.arange(100.0), t)
    for some, each in zip(table, whole, strict=True):
        np.testing.assert_array_equal(some, np.take_along_axis(each, rows, axis=0))
    settings = PUBLISHED | {"n_basis": None, "n_grid": 32}
    some, enough, every = (GPCCalibrator(10, n_pairs=n, **settings).fit(law, y) for n in (205, 1000, None))
    np.testing.assert_array_equal(enough.coefficients_, every.coefficients_)
    assert not np.allclose(some.coefficients_, every.coefficients_)


def test_a_grid_is_for_the_rbf_kernel():
    with pytest.raises(ValueError, match='`n_basis` must be a number unless `kernel` is "rbf"; got None and'):
        GPCCalibrator(n_basis=None).fit(Normal(np.zeros(20), 1.0), np.arange(20.0))


@pytest.mark.parametrize("change", [{"lengths": np.ones(3)}, {"scale": -1.0}, {"first": np.ones((2, 2))}])
def test_a_process_that_came_from_anywhere(change):
    made = {"first": np.ones(2), "second": np.ones(2), "lengths": np.ones(2), "scale": 1.0} | change
    with pytest.raises(ValueError, match="GridProcess must have"):
        GridProcess(**made)._check_sound()


SETTINGS = [
    PUBLISHED, PUBLISHED | {"n_basis": None}, PUBLISHED | {"n_basis": None, "lengths": "fixed"},
    PUBLISHED | {"link": "probit"}, {"kernel": "matern52"}, {"link": "probit"},
    {"inputs": "q", "quantile_map": False}, {"lengths": "learn"},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_setting(settings, tmp_path):
    x, y = toy(0, 150)
    forecasts = Normal(0.25 * x, 5.0)
    calibrator = GPCCalibrator(12, **({"n_basis": 20, "n_grid": 64} | settings)).fit(
        forecasts, list(y.astype(np.float32))
    )
    new, outcome = toy(100, 300)
    law = calibrator.transform(Normal(0.25 * new, 5.0))
    assert metrics.nll(outcome, law) < metrics.nll(outcome, Normal(0.25 * new, 5.0)) - 0.3
    grid = np.linspace(-30, 50, 500)[None, :]
    assert np.all(np.diff(law[:20].cdf(grid)) >= 0) and np.isfinite(law.logpdf(outcome)).all()
    save(calibrator, tmp_path / "gpc")
    again = load(tmp_path / "gpc")
    assert repr(again) == repr(calibrator)
    np.testing.assert_array_equal(again.transform(forecasts).logpdf(y), calibrator.transform(forecasts).logpdf(y))
    w = np.random.default_rng(0).integers(1, 3, 150)
    twice, small = np.repeat(np.arange(150), w), {"n_basis": 10, "n_grid": 32} | settings
    pair = [
        GPCCalibrator(6, **small).fit(law_, y_, sample_weight=w_).transform(forecasts[:5])
        for law_, y_, w_ in ((forecasts, y, w), (forecasts[twice], y[twice], None))
    ]
    np.testing.assert_allclose(*(law.quantiles([0.1, 0.5, 0.9]) for law in pair), rtol=1e-3, atol=0.02)


def test_few_rows_without_a_quantile_map():
    with pytest.warns(UserWarning, match="3 rows are too few for a classifier; forecasts stay as they are"):
        calibrator = GPCCalibrator(quantile_map=False).fit(Normal(np.zeros(3), 1.0), [0.1, 0.2, 0.4])
    assert calibrator.transform(Normal([1.0], 2.0)).cdf([0.0])[0] == pytest.approx(ndtr(-0.5))


def test_scores_beyond_a_thousand_are_as_one_at_a_thousand():
    assert Logit().offset(np.array([-1500.0, 1500.0])).tolist() == Logit().offset(np.array([-1e3, 1e3])).tolist()


def test_counts_are_refused_in_words():
    with pytest.raises(ValueError, match="`forecasts` must have densities; Poisson has none. Use DensityCalibrator"):
        GPCCalibrator().fit(Poisson(np.full(50, 3.0)), np.arange(50.0) % 6)


@pytest.mark.filterwarnings("ignore:GPCCalibrator made")
def test_some_of_very_many_rows_are_drawn(monkeypatch):
    x, y = toy(0, 400)
    monkeypatch.setattr(gpc, "_MOST_ROWS", 150)
    some = [GPCCalibrator(8, n_grid=16).fit(Normal(0.25 * x, 6.0), y) for _ in range(2)]
    assert some[0].rows_learned_ == 150 and np.array_equal(some[0].coefficients_, some[1].coefficients_)
    monkeypatch.setattr(gpc, "_MOST_ROWS", 400)
    whole = GPCCalibrator(8, n_grid=16).fit(Normal(0.25 * x, 6.0), y)
    assert whole.rows_learned_ == 400 and not np.array_equal(whole.coefficients_, some[0].coefficients_)
