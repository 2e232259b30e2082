from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import ndtri
from scipy.stats import norm

from calibrant.maps import SplineMap, fit_isotonic, fit_spline
from calibrant.maps.cells import Cells, cells_of
from calibrant.maps.insurance import insured
from calibrant.maps.shrunken import shrunken_affine
from calibrant.maps.spline_fit import fit_splines
from calibrant.maps.spline_problem import newton, place_knots, reduced, stacked
from experiments.harmless.cases import FIXABLE, RIGHT, Case
from experiments.harmless.discrete import KINDS, change

X = np.random.default_rng(3).standard_normal(5000)
GRID = np.linspace(-50, 50, 4001)


def log_density(curve: SplineMap, z: np.ndarray) -> np.ndarray:
    return norm.logpdf(curve(z)) + curve.log_slope(z)


# the claims -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "draws", "limit"), [(30, 200, 0.012), (50, 100, 0.009), (200, 100, 0.0015), (500, 100, 0.001)]
)
def test_costs_next_to_nothing_when_nothing_is_wrong(n: int, draws: int, limit: float) -> None:
    samples = [(RIGHT.sample(np.random.default_rng([n, draw, 0]), n), None) for draw in range(draws)]
    rises = [RIGHT.nll(fitted) - RIGHT.truth for fitted in fit_splines(samples)]
    assert min(rises) > -1e-6 and np.mean(rises) <= limit


def test_the_papers_map_costs_four_tenths_of_a_nat() -> None:
    samples = (RIGHT.sample(np.random.default_rng(draw), 200) for draw in range(10))
    rise = np.mean([RIGHT.nll(fit_isotonic(z)) - RIGHT.truth for z in samples])
    assert 0.3 < rise < 0.5


@pytest.mark.parametrize("case", FIXABLE, ids=lambda case: case.name)
@pytest.mark.parametrize(("n", "draws", "share"), [(200, 20, 0.85), (2000, 8, 0.96)])
def test_wins_most_of_what_can_be_won(case: Case, n: int, draws: int, share: float) -> None:
    samples = [(case.sample(np.random.default_rng([n, draw, 1]), n), None) for draw in range(draws)]
    assert np.mean([case.share(fitted) for fitted in fit_splines(samples)]) >= share


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "0.1" not in kind])
def test_atoms_never_hurt_the_crps(kind: str) -> None:
    assert change(kind, 100, 2, fit_spline) <= 0.02
    assert change(kind, 3000, 1, fit_spline) <= 0.005


@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_intervals_cover_far_into_the_tails(factor: float) -> None:
    rng = np.random.default_rng(int(factor))
    fitted = fit_spline(rng.normal(0.0, factor, 20_000))
    fresh = rng.normal(0.0, factor, 200_000)
    for level, limit in ((0.5, 0.01), (0.9, 0.006), (0.99, 0.003), (0.999, 0.0012)):
        assert np.mean(np.abs(fitted(fresh)) <= ndtri(0.5 + 0.5 * level)) == pytest.approx(level, abs=limit)
    assert np.isfinite(log_density(fitted, fresh)).all()


# the fit --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [200, 5000])
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 8.0), (0.0, 1e-3), (5.0, 1.0), (1e6, 1.0), (-0.4, 0.5)])
def test_recovers_location_and_scale(n: int, shift: float, scale: float) -> None:
    fitted = fit_spline(shift + scale * X[:n])
    assert np.allclose(fitted(shift + scale * np.array([-1.0, 0.0, 1.0])), [-1, 0, 1], atol=3 / np.sqrt(n))


@pytest.mark.parametrize("n", [200, 5000])
def test_weight_two_is_the_row_twice(n: int) -> None:
    rng = np.random.default_rng(n)
    z, weights = rng.gamma(2.0, 1.0, n), rng.integers(0, 4, n)
    one, other = fit_spline(z, weights.astype(float)), fit_spline(rng.permutation(np.repeat(z, weights)))
    assert np.allclose(one(GRID), other(GRID), atol=1e-6)
    assert not np.allclose(one(GRID), fit_spline(z)(GRID), atol=1e-3)


def test_the_input_is_left_alone_and_the_result_repeats() -> None:
    z = np.round(X, 1)
    z.flags.writeable = False
    assert np.array_equal(fit_spline(z).values, fit_spline(z).values)


@pytest.mark.parametrize("heavy_tails", [False, True])
@pytest.mark.parametrize(
    "z",
    [
        X[:1],
        X[:2],
        X[:3],
        X[:8],
        np.full(1, 7.0),
        np.full(50, 0.3),
        np.full(5000, 0.3),
        np.append(X, 1e300),
        np.append(X[:50], [1e300, -1e300]),
        np.append(X[:50], [np.inf, -np.inf]),
        np.full(3, np.inf),
        X * 1e300 / 10,
        X * 1e-300,
        10.0 ** (60 * X),
        np.random.default_rng(0).standard_cauchy(5000),
        np.where(X < 1, 0.0, X),
        np.append(np.zeros(5000), X[:50]),
        np.append(np.zeros(100), 1e-12),
        np.round(X),
        np.sign(X),
        np.concatenate([X, X + 1e4]),
    ],
    ids=lambda z: f"{len(z)} from {z[0]:.3g}",
)
def test_any_scores_give_a_finite_increasing_map(z: np.ndarray, heavy_tails: bool) -> None:
    fitted = fit_spline(z, heavy_tails=heavy_tails)
    points = np.sort(np.concatenate([GRID, [0.0, 1e10, -1e10, 1e-300], fitted.knots]))
    assert np.isfinite(fitted(points)).all() and np.isfinite(fitted.log_slope(points)).all()
    assert (np.diff(fitted(points)) >= -1e-13 * np.abs(fitted(points)[1:])).all()
    assert np.isfinite(fitted.inverse(np.array([-8.0, 0.0, 8.0]))).all()


def test_one_row_changes_little() -> None:
    assert fit_spline(np.array([4.0]))(np.array([-1.0, 0.0, 1.0])) == pytest.approx([-1, 0, 1], abs=0.1)


def test_the_solution_minimises_the_objective_written_plainly() -> None:
    z = np.sort(np.random.default_rng(4).gamma(3.0, 1.0, 150))
    cells = Cells((z - np.median(z)) / z.std(), np.ones(150))
    problem, penalty = stacked([reduced(cells)]), 3.0
    knots, places = place_knots(cells)
    spacing = places[1] - places[0]
    middle = knots.size // 2

    def plain(theta: np.ndarray) -> float:
        curve = SplineMap.through(knots, np.exp(theta[1:]), theta[0], middle)
        c = curve.slopes
        rough = np.sum(np.diff(c) ** 2) / spacing + np.sum(np.diff(c, 2) ** 2) / spacing**3
        data = np.sum(0.5 * curve(cells.z) ** 2 - curve.log_slope(cells.z))
        return float(data + 0.5 * penalty * rough + 0.2 * np.sum(c - np.log(c) - 1))

    found = newton(problem, problem.start(), np.array([penalty]))
    theta = np.append(found.offset, np.log(found.slopes))
    independent = minimize(plain, np.zeros(knots.size + 1), method="BFGS", options={"gtol": 1e-4, "maxiter": 2000})
    assert plain(theta) == pytest.approx(independent.fun, abs=2e-3)
    assert plain(theta) <= independent.fun + 1e-4


@pytest.mark.parametrize("n", [8, 9, 150])
def test_moments_and_roughness_are_those_written_plainly(n: int) -> None:
    z = np.sort(np.random.default_rng(n).standard_t(3, n))
    cells = Cells(z, np.linspace(0.5, 2.0, n))
    problem = stacked([reduced(cells)])
    knots, places = place_knots(cells)
    size, middle = knots.size, knots.size // 2
    basis = []
    for place in range(size + 1):
        theta = np.zeros(size + 1)
        theta[place] = 1.0
        offset = theta[0] + problem.lean[0] * theta[1 + middle]
        steep = SplineMap.through(knots, theta[1:] + 1.0, offset, middle)  # slopes must be positive
        basis.append(steep(z) - (z - knots[middle]))
    plain = (np.array(basis) * cells.mass) @ np.array(basis).T
    np.testing.assert_allclose(problem.gram[0], plain, rtol=1e-9, atol=1e-9 * np.abs(plain).max())
    first, second = (np.diff(np.eye(size), order, axis=0) for order in (1, 2))
    spacing = places[1] - places[0]
    eigenvalues = np.linalg.eigvalsh(first.T @ first / spacing + second.T @ second / spacing**3)
    np.testing.assert_allclose(problem.stiffness[0], eigenvalues, rtol=1e-9, atol=1e-9 * eigenvalues[-1])
    assert problem.stiffness[0, 0] == 0.0


def test_the_evidence_is_laplaces() -> None:
    cells = Cells(np.linspace(-2.0, 2.5, 40), np.ones(40))
    problem, penalty = stacked([reduced(cells)]), 10.0
    found = newton(problem, problem.start(), np.array([penalty]))
    theta = np.append(found.offset, found.slopes)
    knots, places = place_knots(cells)
    spacing = places[1] - places[0]
    first, second = (np.diff(np.eye(knots.size), order, axis=0) for order in (1, 2))
    differences = np.concatenate([first / spacing**0.5, second / spacing**1.5])

    def negative(theta: np.ndarray) -> float:
        curve = SplineMap.through(knots, theta[1:], theta[0], knots.size // 2)
        data = np.sum(0.5 * curve(cells.z) ** 2 - curve.log_slope(cells.z))
        return float(
            data
            + 0.5 * penalty * np.sum((differences @ theta[1:]) ** 2)
            + 0.2 * np.sum(theta[1:] - np.log(theta[1:]) - 1)
        )

    hessian = approx_fprime(theta, lambda t: approx_fprime(t, negative, 1e-5), 1e-4)
    prior = penalty * differences.T @ differences + 0.2 * np.eye(knots.size)
    laplace = -negative(theta) - 0.5 * np.linalg.slogdet(hessian)[1] + 0.5 * np.linalg.slogdet(prior)[1]
    skew = 0.6 * 0.2 * np.trace(np.linalg.inv(prior))
    assert found.evidence[0] == pytest.approx(laplace - skew, abs=0.02)


def test_many_samples_at_once_are_fitted_as_if_each_were_alone() -> None:
    sizes = [3, 8, 30, 200, 1000, 1003]
    samples = [((1 + 0.2 * place) * X[place : place + n], None) for place, n in enumerate(sizes)]
    samples += [(np.round(X[:300], 1), np.full(300, 2.0)), (np.append(X[:50], [np.inf, -1e300]), None)]
    for heavy_tails in (False, True):
        for (z, weights), together in zip(samples, fit_splines(samples, heavy_tails=heavy_tails), strict=True):
            alone = fit_spline(z, weights, heavy_tails=heavy_tails)
            assert np.allclose(together(GRID), alone(GRID), rtol=1e-9, atol=1e-9)
            assert together.tails == alone.tails
    assert fit_splines([]) == []


# the parts ------------------------------------------------------------------------------------------------------------


def test_shrinkage_leaves_noise_and_keeps_signal() -> None:
    assert shrunken_affine(Cells(np.array([-1.0, 1.0]), np.array([50.0, 50.0]))) == (0.0, pytest.approx(1.0))
    location, scale = shrunken_affine(cells_of(1.0 + 0.5 * X))
    assert location == pytest.approx(1 + 0.5 * X.mean(), abs=1e-3) and scale == pytest.approx(0.5 * X.std(), rel=0.01)
    within_noise = shrunken_affine(cells_of(X[:400] - X[:400].mean() + 0.05))
    assert within_noise[0] == 0.0


def test_shrinkage_of_the_mean_is_the_formula() -> None:
    z = X[:1000] - X[:1000].mean() + 0.2
    error = z.var(ddof=1) / 1000
    assert shrunken_affine(Cells(np.sort(z), np.ones(1000)))[0] == pytest.approx(0.2 - 2 * error / 0.2, rel=2e-3)


@pytest.mark.parametrize(("z", "n"), [(X[:300], 300), (2 * X[:5000], 5000), (np.exp(X[:500]), 500), (X[:30], 30)])
def test_insurance_follows_the_mixture_far_out(z: np.ndarray, n: int) -> None:
    slopes = 1 / np.quantile(np.abs(z), [0.7, 0.68, 0.68, 0.75])
    bare = SplineMap.through(np.array([-1.0, 0.0, 1.0, 2.0]) / slopes[1], slopes, 0.0, 1)
    premium = 0.2 / (n + 1)
    width = np.where(GRID < 0.1, 3 * max(1, 1 / slopes[0]), 3 * max(1, 1 / slopes[-1]))
    mixture = np.logaddexp(
        np.log1p(-premium) + log_density(bare, GRID), np.log(premium) + norm.logpdf(GRID, 0.1, width)
    )
    again = insured(bare, 0.1, n, again=True)
    assert np.exp(again.log_slope(np.array([-1e6, 1e6]))) == pytest.approx(3 / width[[0, -1]], rel=0.01)
    sure = insured(bare, 0.1, n)
    assert np.abs(log_density(sure, GRID) - mixture).max() < 0.02
    assert np.exp(sure.log_slope(np.array([-1e6, 1e6]))) == pytest.approx(1 / width[[0, -1]], rel=0.01)


def test_outliers_are_survived() -> None:
    fitted = fit_spline(X[:200])
    assert log_density(fitted, np.array([30.0]))[0] > -70  # the forecast itself says -450
    assert fitted(np.array([2.0])) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 8.0])
def test_heavy_tails_keep_slope_one(scale: float) -> None:
    fitted = fit_spline(scale * X[:500], heavy_tails=True)
    assert fitted.tails == (1.0, 1.0)
    assert fitted.log_slope(np.array([-1e4, 1e4])).tolist() == [0.0, 0.0]
    assert fitted(np.array([scale])) == pytest.approx(1.0, abs=0.15)


def test_huge_weights_do_not_make_huge_problems():
    knots, places = place_knots(cells_of(X, np.full(len(X), 1e10)))
    assert len(knots) == 400 and (np.diff(places) > 0).all()


@pytest.mark.parametrize(
    "bend", [lambda e: e, lambda e: 1.002 * e, lambda e: e + 0.01 * e**2, lambda e: e * (0.2 * e + 1.5)]
)
def test_with_very_many_rows_the_shorter_search_ends_at_the_same_map(bend, monkeypatch: pytest.MonkeyPatch) -> None:
    z, x = bend(np.random.default_rng(0).normal(size=200_000)), np.linspace(-8, 8, 401)
    short = fit_spline(z)(x)
    monkeypatch.setattr("calibrant.maps.spline_fit.MANY", np.inf)
    np.testing.assert_allclose(norm.cdf(short), norm.cdf(fit_spline(z)(x)), atol=1e-9)
