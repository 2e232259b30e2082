"""Summaries of scores merge in any order, and fits to them are fits to the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from calibrant import Normal, Poisson, QuantileCalibrator, ResidualCalibrator, ScaleCalibrator, StudentT
from calibrant.regression.map_choice import FITS
from calibrant.summaries import ScoreSummary, SpreadSummary

GRID = np.linspace(-4, 6, 401)
MILLION = 1_000_000


def skewed(rng, n):
    mu, sigma = rng.normal(size=n), np.exp(0.5 * rng.standard_normal(n))
    return mu, sigma, mu + sigma * (rng.gamma(3.0, 1.0, n) - 2.5)


def merged(parts, rng):
    """Along a random tree."""
    parts = list(parts)
    while len(parts) > 1:
        one, two = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(one + two)
    return parts[0]


def test_any_tree_of_a_million_rows(rng):
    mu, sigma, y = skewed(rng, MILLION)
    calibrator = QuantileCalibrator()
    whole = calibrator.summarise(Normal(mu, sigma), y)
    expected = calibrator.fit_summary(whole).map_(GRID)
    cuts = np.sort(rng.choice(MILLION, 60, replace=False))
    for order in (np.arange(MILLION), rng.permutation(MILLION)):
        chunks = np.split(order, cuts)
        found = merged((calibrator.summarise(Normal(mu[c], sigma[c]), y[c]) for c in chunks), rng)
        assert found.n_rows == MILLION and found.span == whole.span and found.level == whole.level
        assert np.array_equal(found.grid.keys, whole.grid.keys) and np.array_equal(found.grid.mass, whole.grid.mass)
        assert np.abs(calibrator.fit_summary(found).map_(GRID) - expected).max() < 1e-9
    rows = QuantileCalibrator().fit(Normal(mu, sigma), y)
    assert np.abs(ndtr(rows.map_(GRID)) - ndtr(expected)).max() < 1e-6
    assert rows.span_ == calibrator.span_ and rows.n_rows_ == calibrator.n_rows_


@pytest.mark.parametrize("n", [50, 3000, 40_000])
@pytest.mark.parametrize("law", ["normal", "counts", "heavy"])
@pytest.mark.parametrize("map", FITS)
def test_quantile_from_a_summary_is_that_from_rows(map, law, n, rng):
    mu, sigma, y = skewed(rng, n)
    if law == "counts":
        y = rng.poisson(3.0, n).astype(float)
    forecasts = {"normal": Normal(mu, sigma), "counts": Poisson(np.full(n, 4.0)), "heavy": StudentT(mu, sigma, 3.0)}[
        law
    ]
    w = rng.integers(1, 4, n).astype(float)
    calibrator = QuantileCalibrator(map)
    rows = QuantileCalibrator(map).fit(forecasts, y, sample_weight=w)
    found = calibrator.fit_summary(calibrator.summarise(forecasts, y, sample_weight=w))
    close = 1e-6 if map in ("spline", "kde") or n <= 3000 else 5e-4
    assert np.abs(ndtr(found.map_(GRID)) - ndtr(rows.map_(GRID))).max() < close
    assert (found.span_, found.heavy_tails_, found.n_rows_) == (rows.span_, rows.heavy_tails_, n)


@pytest.mark.parametrize("calibrator", [ResidualCalibrator(), ResidualCalibrator("ecdf")], ids=str)
@pytest.mark.parametrize("unit", [1.0, 1e-120, 1e120])
def test_residuals(calibrator, unit, rng):
    mu, sigma, y = (unit * column for column in skewed(rng, 60_000))
    rows = calibrator.fit((mu, sigma), y)
    plain = ResidualCalibrator(calibrator.map).fit(mu, y)
    for fitted, forecasts in ((rows, (mu, sigma)), (plain, mu)):
        again = ResidualCalibrator(calibrator.map)
        for c in np.array_split(np.arange(60_000), 7):
            part = (mu[c], sigma[c]) if isinstance(forecasts, tuple) else mu[c]
            again.partial_fit(part, y[c])
        new = tuple(column[:5] for column in forecasts) if isinstance(forecasts, tuple) else mu[:5]
        levels = fitted.transform(new).quantiles([0.01, 0.5, 0.99])
        p = again.transform(new).cdf(levels)
        assert np.abs(p - [0.01, 0.5, 0.99]).max() < (1e-6 if calibrator.map == "spline" else 5e-4)
        assert again.has_unit_ == fitted.has_unit_
        assert again.n_rows_ == fitted.n_rows_ == again.calibrator_.n_rows_ == fitted.calibrator_.n_rows_ == 60_000


@pytest.mark.parametrize("map", ["spline", "ecdf"])
def test_residuals_that_are_not_finite(map, rng):
    y = 1.7e308 * rng.uniform(0.2, 1.0, 90_000)
    with pytest.raises(ValueError, match="residuals must vary and be finite; their root mean square is inf"):
        ResidualCalibrator(map).fit(-y, y)


@pytest.mark.parametrize("n", [300, 100_000])
@pytest.mark.parametrize(
    ("calibrator", "law", "close"),
    [
        (ScaleCalibrator(), "normal", 1e-6),
        (ScaleCalibrator(), "counts", 1e-6),
        (ScaleCalibrator(), "heavy", 1e-6),
        (ScaleCalibrator("coverage"), "normal", 1e-3),
        (ScaleCalibrator("coverage"), "heavy", 1e-3),
        (ScaleCalibrator("bins", n_bins=4), "normal", 1e-3),
        (ScaleCalibrator("bins", n_bins=4), "counts", 1e-3),
    ],
)
def test_scale_from_a_summary_is_that_from_rows(calibrator, law, close, n, rng):
    mu, sigma, y = skewed(rng, n)
    y = rng.poisson(3.0, n).astype(float) if law == "counts" else y
    rates = np.round(np.exp(0.4 * mu), 3)
    forecasts = {"normal": Normal(mu, sigma), "counts": Poisson(rates), "heavy": StudentT(mu, sigma, 3.0)}[law]
    w = rng.integers(0, 3, n).astype(float)
    rows = ScaleCalibrator(**calibrator.get_params()).fit(forecasts, y, sample_weight=w)
    halves = [np.arange(0, n, 2), np.arange(1, n, 2)]
    parts = [calibrator.summarise(forecasts[h], y[h], sample_weight=w[h]) for h in halves]
    found = calibrator.fit_summary(parts[1] + parts[0])
    close = close if n > 16_384 else 1e-8  # to which the factor of t laws is searched
    np.testing.assert_allclose([found.factor_, *found.factors_], [rows.factor_, *rows.factors_], rtol=close)
    np.testing.assert_allclose(found.edges_, rows.edges_, rtol=close)
    assert found.span_ == rows.span_ and found.n_rows_ == np.count_nonzero(w)


def test_shapes_that_differ(rng):
    mu, sigma, y = skewed(rng, 50)
    three, four = (ScaleCalibrator().summarise(StudentT(mu, sigma, df), y) for df in (3.0, 4.0))
    with pytest.raises(
        ValueError, match=r"be of standardised outcomes of StudentT\(df=3.0\) too; it is of .*StudentT\(df=4.0\)"
    ):
        three + four
    with pytest.raises(ValueError, match="must be of one shape to be summarised; these StudentT laws differ"):
        ScaleCalibrator().summarise(StudentT(mu, sigma, rng.uniform(3, 5, 50)), y)
    with pytest.raises(ValueError, match="must not be StudentT laws for a summary with method=.bins"):
        ScaleCalibrator("bins").summarise(StudentT(mu, sigma, 3.0), y)


def test_decay_is_a_factor_on_all_weights(rng):
    mu, sigma, y = skewed(rng, 40_000)
    calibrator, law = QuantileCalibrator(), Normal(mu, sigma)
    old, new = (slice(0, 20_000), slice(20_000, None))
    found = calibrator.summarise(law[old], y[old]).decay(0.25) + calibrator.summarise(law[new], y[new])
    w = np.where(np.arange(40_000) < 20_000, 0.25, 1.0)
    expected = QuantileCalibrator().fit(law, y, sample_weight=w)
    assert np.abs(ndtr(calibrator.fit_summary(found).map_(GRID)) - ndtr(expected.map_(GRID))).max() < 1e-6
    spread = SpreadSummary.of_rows(sigma, y, w)
    assert spread.decay(0.5).table()[2] == pytest.approx(0.5 * spread.table()[2])
    for factor in (0.0, -1.0, 1.5, np.nan):
        with pytest.raises(ValueError, match=r"`factor` must be above 0 and at most 1; got"):
            found.decay(factor)


def test_summaries_of_other_things(rng):
    mu, sigma, y = skewed(rng, 50)
    scores, residuals = QuantileCalibrator().summarise((mu, sigma), y), ResidualCalibrator().summarise(mu, y)
    with pytest.raises(ValueError, match="`other` must be of normal scores too; it is of residuals"):
        scores + residuals
    with pytest.raises(ValueError, match="`summary` must be of normal scores; it is of residuals"):
        QuantileCalibrator().fit_summary(residuals)
    with pytest.raises(TypeError, match="`summary` must be a SpreadSummary, as summarise makes it; got ScoreSummary"):
        ScaleCalibrator("bins").fit_summary(scores)
    with pytest.raises(TypeError, match="`other` must be a ScoreSummary; got SpreadSummary"):
        scores.merge(ScaleCalibrator("bins").summarise((mu, sigma), y))
    with pytest.raises(ValueError, match=r"QuantileCalibrator\(atoms='random'\) needs the rows themselves"):
        QuantileCalibrator(atoms="random").summarise((mu, sigma), y)
    assert ScaleCalibrator().fit_summary(scores).factor_ == pytest.approx(ScaleCalibrator().fit((mu, sigma), y).factor_)
    assert isinstance(scores, ScoreSummary)
