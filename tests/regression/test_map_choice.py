"""Maps as the papers have them, and maps that others make."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeRegressor

from calibrant import Chain, GroupedCalibrator, Normal, QuantileCalibrator, ResidualCalibrator, StudentT, load, save
from calibrant.maps import AffineMap
from tests.store.test_calibrators import forged


def eq_6(cdf_values, p):
    """Kuleshov et al. (2018), eq. 6, as printed: |{y_t : F_t(y_t) <= p, t = 1 ... T}| / T."""
    count = 0
    for value in cdf_values:
        if value <= p:
            count += 1
    return count / len(cdf_values)


def sample(rng, n, decimals=None):
    y = 2 * rng.standard_normal(n) + 0.3
    return Normal(np.zeros(n), 1.0), y if decimals is None else np.round(y, decimals)


class TestRanks:
    @pytest.mark.parametrize("decimals", [None, 1, 0], ids=["no ties", "ties", "many ties"])
    @pytest.mark.parametrize("n", [1, 2, 40, 700])
    @pytest.mark.parametrize("map", ["isotonic", "step", IsotonicRegression()], ids=str)
    def test_over_t_are_equation_6_at_the_data(self, rng, n, decimals, map):
        law, y = sample(rng, n, decimals)
        p = law.cdf(y)
        if not isinstance(map, str) and len(np.unique(p)) < 2:
            return  # a regressor needs two values
        wanted = [eq_6(p, value) for value in p]
        found = QuantileCalibrator(map, ranks="T").fit(law, y).transform(law).cdf(y)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 if isinstance(map, str) else 2e-9)

    def test_step_is_equation_6_everywhere(self, rng):
        law, y = sample(rng, 60, 1)
        p, at = law.cdf(y), np.linspace(-5, 5, 301) + 0.003
        found = QuantileCalibrator("step", ranks="T").fit(law, y).transform(Normal(np.zeros(301), 1.0)).cdf(at)
        np.testing.assert_allclose(found, [eq_6(p, ndtr(value)) for value in at], atol=1e-12)

    def test_between_the_data_lines_as_of_isotonic_regression(self, rng):
        law, y = sample(rng, 50, 1)
        p = law.cdf(y)
        peer = IsotonicRegression().fit(p, [eq_6(p, value) for value in p])
        at = rng.uniform(p.min(), p.max(), 200)
        found = QuantileCalibrator("isotonic", ranks="T").fit(law, y).map_(ndtri(at))
        np.testing.assert_allclose(ndtr(found), peer.predict(at), atol=1e-12)

    def test_weights_and_summaries(self, rng):
        law, y = sample(rng, 80, 1)
        w = rng.integers(0, 4, 80)
        many = np.repeat(np.arange(80), w)
        p = law.cdf(y)[many]
        wanted = [eq_6(p, value) for value in p]
        calibrator = QuantileCalibrator("isotonic", ranks="T")
        whole = calibrator.summarise(law[:30], y[:30], sample_weight=w[:30]) + calibrator.summarise(
            law[30:], y[30:], sample_weight=w[30:]
        )
        for fitted in (clone(calibrator).fit(law, y, sample_weight=w), clone(calibrator).fit_summary(whole)):
            np.testing.assert_allclose(fitted.transform(law[many]).cdf(y[many]), wanted, atol=1e-12)

    def test_proper_and_finite_beyond_the_largest(self, rng):
        law, y = sample(rng, 40)
        after = QuantileCalibrator("isotonic", ranks="T").fit(law, y).transform(Normal([0.0], 1.0))
        assert after.ppf([1e-9])[0] < y.min() and after.ppf([1 - 1e-9])[0] <= y.max()
        assert np.isfinite(after.logpdf([y.max() + 3])).all() and np.isfinite(after.mean()).all()

    def test_defaults_are_as_before(self, rng):
        law, y = sample(rng, 40, 1)
        for map, own in (("isotonic", "T+1"), ("ecdf", "T+1"), ("step", "T")):
            one, other = (QuantileCalibrator(map, ranks=r).fit(law, y).map_(y) for r in (None, own))
            np.testing.assert_array_equal(one, other)
        mid = QuantileCalibrator("isotonic").fit(law, y).transform(law).cdf(y)
        by_hand = [(np.sum(y < v) + 0.5 * (np.sum(y == v) + 1)) / 41 for v in y]
        np.testing.assert_allclose(mid, by_hand, atol=1e-12)

    def test_conformal_promise_of_a_calibrator(self, rng):
        """The 80 % quantile of 9 rows is the eighth of them: it covers 8 / 10, not 8 / 9, and none is the ninth."""
        law, hits = Normal(np.zeros(9), 1.0), 0
        calibrator = QuantileCalibrator("step", ranks="T+1")
        for _ in range(800):
            y = 3 * rng.standard_normal(10)
            hits += y[9] <= calibrator.fit(law, y[:9]).transform(law[:1]).ppf([0.8])[0]
        assert hits / 800 == pytest.approx(0.8, abs=0.04)
        assert calibrator.transform(law[:1]).ppf([0.95])[0] == np.inf

    def test_refusals(self):
        law, y = Normal([0.0, 1.0], 1.0), [0.5, 0.0]
        for map, ranks, message in (
            ("isotonic", "T-1", "`ranks` must be one of None, 'T\\+1', 'T'; got 'T-1'"),
            ("spline", "T", "`ranks` is for map 'isotonic', 'step', 'ecdf' and regressors; 'spline' has no ranks"),
            (np.sqrt, "T", "has no ranks"),
            ("ecdf", "T", "'T\\+1' with map='ecdf': the normal score of rank T of T is infinite"),
        ):
            for calibrator in (QuantileCalibrator(map, ranks=ranks), ResidualCalibrator(map, ranks=ranks)):
                with pytest.raises(ValueError, match=message):
                    calibrator.fit(law, y)


class Flat:
    """A minimal regressor of another library: no parameters, no weights."""

    def fit(self, x, y):
        self.mean = y.mean()
        return self

    def predict(self, x):
        return np.full(len(x), self.mean)


class TestRegressors:
    @pytest.mark.parametrize(
        "regressor",
        [KNeighborsRegressor(15), DecisionTreeRegressor(max_depth=5, random_state=0), IsotonicRegression()],
        ids=str,
    )
    def test_what_it_predicts_at_the_data(self, rng, regressor):
        law, y = sample(rng, 300)
        p = np.sort(law.cdf(y))
        peer = clone(regressor).fit(p[:, None], [eq_6(p, value) for value in p])
        calibrator = QuantileCalibrator(regressor).fit(law, y)
        np.testing.assert_allclose(calibrator.transform(law).cdf(np.sort(y)), peer.predict(p[:, None]), atol=1e-8)
        assert not hasattr(regressor, "n_features_in_")  # a copy has learned

    def test_weights_are_rows(self, rng):
        law, y = sample(rng, 100, 1)
        w = rng.integers(0, 3, 100)
        many = np.repeat(np.arange(100), w)
        for regressor in (LinearRegression(), KNeighborsRegressor(5)):
            one = QuantileCalibrator(regressor).fit(law, y, sample_weight=w).transform(law).cdf(y)
            other = QuantileCalibrator(regressor).fit(law[many], y[many]).transform(law).cdf(y)
            np.testing.assert_allclose(one, other, atol=1e-8)
        with pytest.raises(
            ValueError, match="`map` KNeighborsRegressor takes no weights; `sample_weight` must then be"
        ):
            QuantileCalibrator(KNeighborsRegressor(5)).fit(law, y, sample_weight=w + 0.5)

    def test_any_forecast_gets_a_proper_law(self, rng):
        law, y = sample(rng, 200)
        for map in (LinearRegression(), lambda p: np.clip(2 * p - 0.5, 0, 1)):
            calibrator = QuantileCalibrator(map).fit(law, y)
            for forecast in (Normal([0.0], 1.0), StudentT([0.0], 1.0, 3.0)):
                after = calibrator.transform(forecast)
                levels = np.linspace(0.001, 0.999, 51)[None, :]
                np.testing.assert_allclose(after.cdf(after.ppf(levels)), levels, atol=1e-4)
                assert np.isfinite(after.logpdf(np.linspace(-30, 30, 61)[None, :])).all()

    def test_what_falls_is_refused(self, rng):
        law, y = sample(rng, 200)
        wavy = make_pipeline(PolynomialFeatures(3), LinearRegression(positive=False))

        class Upside(Flat):
            def predict(self, x):
                return 1 - x[:, 0]

        class Missing(Flat):
            def predict(self, x):
                return np.where(x[:, 0] > 0.5, np.nan, x[:, 0])

        assert QuantileCalibrator(wavy).fit(law, y).map_.cumulative.size > 100
        with pytest.raises(
            ValueError, match="must rise with p; the predictions of Upside fall around p = .* IsotonicReg"
        ):
            QuantileCalibrator(Upside()).fit(law, y)
        with pytest.raises(ValueError, match="`map` must be a function into numbers; .* first map"):
            QuantileCalibrator(Missing()).fit(law, y)
        with pytest.raises(ValueError, match="needs two different CDF values between 0 and 1; got 0"):
            QuantileCalibrator(LinearRegression()).fit(Normal(np.zeros(2), 1e-3), [1.0, -1.0])

    def test_no_map(self):
        for map, message in ((QuantileCalibrator, "a name, a regressor"), (3, "got 3"), ([1], "got")):
            with pytest.raises(TypeError, match=f"`map` must be .*{message}"):
                QuantileCalibrator(map).fit(Normal([0.0, 1.0], 1.0), [0.5, 0.0])


class TestFunctions:
    def test_taken_as_they_are(self, rng):
        law, y = sample(rng, 50)
        p = law.cdf(y)
        for function in (np.square, lambda p: p**0.3, lambda p: np.minimum(2 * p, 1)):
            found = QuantileCalibrator(function).fit(law, y).transform(law).cdf(y)
            np.testing.assert_allclose(found, function(p), atol=2e-5)
        given = QuantileCalibrator(AffineMap(0.5, 2.0)).fit(law, y)
        np.testing.assert_allclose(given.transform(law).to_normal(y), 0.5 + 2 * y)

    def test_bad_ones(self):
        law, y = Normal([0.0, 1.0], 1.0), [0.5, 0.0]
        with pytest.raises(ValueError, match="`map` must rise with p; it falls from .* at p = .* to .* at"):
            QuantileCalibrator(lambda p: 4 * p * (1 - p)).fit(law, y)
        with pytest.raises(ValueError, match=r"`map` must be a function into \[0, 1\]; .* first map"):
            QuantileCalibrator(lambda p: 2 * p).fit(law, y)
        with pytest.raises(ValueError, match="one number per probability; got shape"):
            QuantileCalibrator(lambda p: 0.5).fit(law, y)


class TestFiles:
    @pytest.mark.parametrize(
        "make",
        [
            lambda: QuantileCalibrator(KNeighborsRegressor(9)),
            lambda: QuantileCalibrator(np.sqrt),
            lambda: QuantileCalibrator(AffineMap(0.1, 2.0)),
            lambda: QuantileCalibrator("isotonic", ranks="T"),
            lambda: QuantileCalibrator("step", ranks="T+1"),
            lambda: ResidualCalibrator(LinearRegression()),
            lambda: Chain([QuantileCalibrator(np.sqrt), QuantileCalibrator()]),
        ],
    )
    def test_the_table_is_what_is_saved(self, rng, make, tmp_path):
        law, y = sample(rng, 90)
        calibrator = make().fit(law, y)
        save(calibrator, tmp_path / "file")
        loaded = load(tmp_path / "file")
        np.testing.assert_array_equal(loaded.transform(law).cdf(y), calibrator.transform(law).cdf(y))

    @pytest.mark.parametrize("kind", [QuantileCalibrator, ResidualCalibrator])
    def test_a_table_does_not_learn(self, rng, kind, tmp_path):
        law, y = sample(rng, 90)
        waiting = kind(LinearRegression()).partial_fit(law, y)
        save(waiting, tmp_path / "file")
        loaded = load(tmp_path / "file")
        np.testing.assert_array_equal(loaded.transform(law).cdf(y), waiting.transform(law).cdf(y))
        assert loaded.map == "table"
        for learn in (loaded.fit, loaded.partial_fit):
            with pytest.raises(ValueError, match="cannot learn. Give the model again: set_params"):
                learn(law, y)
        again = loaded.set_params(map=LinearRegression()).fit(law, y)
        np.testing.assert_array_equal(again.transform(law).cdf(y), waiting.transform(law).cdf(y))

    @pytest.mark.parametrize("kind", [QuantileCalibrator, ResidualCalibrator])
    def test_files_without_ranks_are_of_earlier_versions(self, rng, kind, tmp_path):
        law, y = sample(rng, 90)
        calibrator = kind("isotonic").fit(law, y)
        save(calibrator, tmp_path / "file")

        def older(text, members):
            for state in (text["state"]["state"], text["state"]["state"].get("calibrator_", {}).get("state", {})):
                state.pop("ranks", None)

        forged(tmp_path / "file", older)
        np.testing.assert_array_equal(load(tmp_path / "file").transform(law).cdf(y), calibrator.transform(law).cdf(y))


def test_parameters_are_those_of_scikit_learn():
    calibrator = QuantileCalibrator(KNeighborsRegressor(7), ranks="T+1")
    assert clone(calibrator).get_params()["map__n_neighbors"] == 7
    assert "KNeighborsRegressor(n_neighbors=7)" in repr(calibrator)
    assert clone(QuantileCalibrator(np.sqrt)).map is np.sqrt


def test_groups_of_such_maps(rng):
    law, y = sample(rng, 200)
    groups = np.where(np.arange(200) < 120, "a", "b")
    for map in (IsotonicRegression(out_of_bounds="clip"), np.sqrt):
        after = GroupedCalibrator(QuantileCalibrator(map)).fit(law, y, groups=groups).transform(law, groups=groups)
        assert np.isfinite(after.median()).all()
