"""What conformal calibration promises, by simulation, and what it does with what it is given."""

from __future__ import annotations

import pickle
from copy import deepcopy
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from calibrant import (
    CalibratedRegressor,
    ConformalCalibrator,
    Ensemble,
    GroupedCalibrator,
    Normal,
    PlattCalibrator,
    PointCalibrator,
    Poisson,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    load,
    metrics,
    save,
)
from calibrant._later import Pending
from calibrant.cli import main
from calibrant.engines.added import Added
from calibrant.numerics.ranked_scores import RankedScores

PLAIN = {"map": "identity"}


def forecasts(rng, n):
    """Laws that are too narrow, and outcomes with a skew."""
    mu, sigma = rng.normal(size=n), np.exp(rng.normal(0, 0.5, n))
    return Normal(mu, sigma), mu + sigma * (rng.exponential(2.0, n) - 2)


def exact_coverage(law, mu, sigma):
    """Probability of intervals under the truth of `forecasts`."""
    low, high = ((law.interval(0.9) - mu[:, None]) / sigma[:, None] + 2).T
    return np.exp(-np.maximum(low, 0) / 2) - np.exp(-np.maximum(high, 0) / 2)


WAYS = {
    "absolute": (ConformalCalibrator(**PLAIN), 19, 18 / 20),
    "signed": (ConformalCalibrator(score="signed", **PLAIN), 49, 46 / 50),
    "cqr": (ConformalCalibrator(score="cqr", **PLAIN), 19, 18 / 20),
    "density": (ConformalCalibrator(score="density", **PLAIN), 19, 18 / 20),
    "random": (ConformalCalibrator(ends="random", **PLAIN), 23, 0.9),
    "wrapped": (ConformalCalibrator(ScaleCalibrator(), **PLAIN), 38, 18 / 20),
    "by width": (ConformalCalibrator(by="width", n_bins=1, **PLAIN), 38, 18 / 20),
}


@pytest.mark.parametrize("way", WAYS)
def test_coverage_is_that_of_the_ranks(way, rng):
    calibrator, n, expected = WAYS[way]
    calibrator = clone(calibrator).set_params(random_state=rng)
    found = []
    for _ in range(100):
        law, y = forecasts(rng, n)
        new, _ = forecasts(rng, 20)
        found.append(exact_coverage(calibrator.fit(law, y).transform(new), new.loc, new.scale).mean())
    error = np.std(found) / np.sqrt(100)
    assert np.mean(found) == pytest.approx(expected, abs=3 * error) and error < 0.01


def test_coverage_in_each_group(rng):
    share = {"a": [], "b": []}
    groups = np.repeat(["a", "b"], [19, 38])
    for _ in range(120):
        law, y = forecasts(rng, 57)
        y = np.where(groups == "a", y, law.loc + 3 * (y - law.loc))
        cal = ConformalCalibrator(by="groups", **PLAIN).fit(law, y, groups=groups)
        wide = cal.transform(Normal(np.zeros(2), 1.0), groups=["a", "b"])
        wide = wide.interval(0.9) / np.array([[1.0], [3.0]])
        for name, (low, high) in zip("ab", wide, strict=True):
            share[name].append(np.exp(-max(low + 2, 0) / 2) - np.exp(-(high + 2) / 2))
    assert np.mean(share["a"]) == pytest.approx(18 / 20, abs=0.02)
    assert np.mean(share["b"]) == pytest.approx(36 / 39, abs=0.02)


@pytest.mark.parametrize(("way", "n", "within"), [("none", 40, None), ("known", 120, 0.02), ("learned", 40, 0.04)])
def test_coverage_under_covariate_shift(way, n, within, rng):
    """Rows of the fit are N(0, 1), new ones N(1, 1), and the noise grows with x."""
    share = []
    for _ in range(n):
        x, new = rng.normal(size=200), rng.normal(1.0, 1.0, 50)
        y, sigma = np.exp(0.7 * x) * rng.normal(size=200), np.exp(0.7 * new)
        fit, beside = {
            "none": ({}, {}),
            "known": ({"ratio": np.exp(x)}, {"ratio": np.exp(new)}),
            "learned": ({"X": x[:, None], "new_rows": rng.normal(1.0, 1.0, (200, 1))}, {"X": new[:, None]}),
        }[way]
        cal = ConformalCalibrator(ends="random", random_state=rng, **PLAIN).fit(0 * x, y, **fit)
        share.append((2 * ndtr(cal.transform(0 * new, **beside).interval(0.8)[:, 1] / sigma) - 1).mean())
    assert np.mean(share) < 0.66 if within is None else np.mean(share) == pytest.approx(0.8, abs=within)


def test_cross_conformal_with_groups(rng):
    X = rng.normal(size=(60, 1))
    groups = np.tile(["a", "b"], 30)
    y = X[:, 0] + np.where(groups == "a", 1.0, 5.0) * rng.normal(size=60)
    model = CalibratedRegressor(LinearRegression(), ConformalCalibrator(by="groups"), cv=KFold(3), ensemble=True)
    law = model.fit(X, y, groups=groups).predict_dist(X[:4], groups=groups[:4])
    width = np.diff(law.interval(0.9)).ravel()
    assert (width[1::2] > 2 * width[::2]).all() and np.isinf(law.interval(0.99)).all()


def test_groups_without_rows_and_with_few(rng):
    law, y = forecasts(rng, 30)
    groups = np.repeat(["many", "few"], [25, 5])
    cal = ConformalCalibrator(by="groups").fit(law, y, groups=groups)
    ends = cal.transform(law[:3], groups=["few", "new", "many"]).interval(0.9)
    assert np.isinf(ends[:2]).all() and np.isfinite(ends[2]).all()
    assert "Of groups without rows it is infinite." in cal.guarantee_ and "0.833" in cal.guarantee_
    with pytest.raises(ValueError, match="`groups` must be given"):
        cal.transform(law)


class TestWrapped:
    def test_the_shape_is_learned_from_the_other_rows(self, rng):
        law, y = forecasts(rng, 200)
        cal = ConformalCalibrator(ScaleCalibrator(), held_out=0.25).fit(law, y)
        assert cal.calibrator_.n_rows_ == 150 and cal.parts_["all"].rows == 50 and cal.n_rows_ == 200
        turned = rng.permutation(200)
        again = ConformalCalibrator(ScaleCalibrator(), held_out=0.25).fit(law[turned], y[turned])
        np.testing.assert_array_equal(again.transform(law).interval(0.9), cal.transform(law).interval(0.9))

    @pytest.mark.parametrize(
        ("rows", "by", "aside"), [(30, None, 15), (600, None, 200), (1500, None, 300), (600, "width", 300)]
    )
    def test_how_many_rows_are_kept_aside(self, rng, rows, by, aside):
        law, y = forecasts(rng, rows)
        cal = ConformalCalibrator(ScaleCalibrator(), by=by).fit(law, y)
        assert cal.all_rows_.rows == aside

    def test_copies_stay_together(self, rng):
        law, y = forecasts(rng, 40)
        w = rng.integers(0, 4, 40)
        twice = np.repeat(np.arange(40), w)
        one = ConformalCalibrator(QuantileCalibrator()).fit(law, y, sample_weight=w).transform(law)
        other = ConformalCalibrator(QuantileCalibrator()).fit(law[twice], y[twice]).transform(law)
        np.testing.assert_allclose(one.interval(0.8), other.interval(0.8), rtol=1e-9)

    def test_calibrators_of_points(self, rng):
        x = rng.normal(size=80)
        y = 2 * x + 1 + rng.normal(size=80)
        for inner in (ResidualCalibrator(), PointCalibrator()):
            law = ConformalCalibrator(inner).fit(x, y).transform(x)
            assert metrics.coverage(y, law, coverage=0.8) == pytest.approx(0.8, abs=0.1)

    def test_one_row_is_not_enough(self):
        with pytest.raises(ValueError, match="at least two different rows"):
            ConformalCalibrator(ScaleCalibrator()).fit(Normal([0.0, 0.0], 1.0), [1.0, 1.0])


def test_whatever_people_have(rng):
    mu, y = rng.normal(size=50), rng.normal(size=50)
    frame = pd.DataFrame({"q0.1": mu - 1, "q0.5": mu, "q0.9": mu + 1.5}, index=[f"r{i}" for i in range(50)])
    for given in (frame, list(mu), mu.astype(np.float32), (mu, 1.0), Ensemble(mu[:, None] + rng.normal(size=(50, 9)))):
        ends = ConformalCalibrator().fit(given, list(y)).transform(given).interval(0.9)
        assert 45 <= ((ends[:, 0] <= y) & (y <= ends[:, 1])).sum() <= 47
    assert ConformalCalibrator().fit(frame, y).transform(frame).to_frame().index[3] == "r3"


def test_measures_and_columns_are_by_interval(rng):
    law, y = forecasts(rng, 9)
    made = ConformalCalibrator().fit(law, y).transform(law)
    assert metrics.coverage(y, made, coverage=[0.9, 0.95]).tolist() == [1.0, 1.0]
    columns = Added.of(coverage=[0.9, 0.95]).columns(made)
    np.testing.assert_array_equal(np.column_stack([columns["lo-90"], columns["hi-90"]]), made.interval(0.9))
    assert np.isposinf(columns["hi-95"]).all()


STORED = {
    "wrapped": (ConformalCalibrator(QuantileCalibrator()), {}),
    "cqr": (ConformalCalibrator(score="cqr", coverage=[0.5, 0.8]), {}),
    "signed": (ConformalCalibrator(score="signed", map="step"), {}),
    "density": (ConformalCalibrator(score="density"), {}),
    "width": (ConformalCalibrator(by="width", n_bins=2), {}),
    "groups": (ConformalCalibrator(by="groups"), {"groups": np.tile(["a", "b"], 30)}),
    "ratio": (ConformalCalibrator(), {"X": np.arange(60.0)[:, None], "new_rows": np.arange(30.0, 90.0)[:, None]}),
}


@pytest.mark.parametrize("way", STORED)
def test_is_saved_and_loaded(way, rng, tmp_path):
    law, y = forecasts(rng, 60)
    calibrator, beside = STORED[way]
    calibrator.fit(law, y, **beside)
    save(calibrator, tmp_path / "file")
    loaded = load(tmp_path / "file")
    new = {name: value for name, value in beside.items() if name != "new_rows"}
    before, after = (each.transform(law, **new) for each in (calibrator, loaded))
    np.testing.assert_array_equal(after.interval(0.8), before.interval(0.8))
    np.testing.assert_array_equal(after.cdf(y), before.cdf(y))
    assert loaded.guarantee_ == calibrator.guarantee_


@pytest.mark.parametrize(
    ("scores", "mass"), [([1.0, 0.0], [1.0, 2.0]), ([0.0, 1.0], [1.0, 1.0]), ([0.0, np.nan], [1.0, 2.0]), ([0.0], [])]
)
def test_forged_ranks(scores, mass):
    with pytest.raises(ValueError, match="RankedScores"):
        RankedScores(np.array(scores), np.array(mass))._check_sound()


@pytest.mark.parametrize("forged", [{"parts_": {}}, {"ratio_is_": "told"}, {"mass_unit_": 0.0}, {"guarantee_": 1}])
def test_forged_calibrators(forged, rng):
    law, y = forecasts(rng, 9)
    cal = ConformalCalibrator().fit(law, y, ratio=np.ones(9))
    cal._check_sound()
    vars(cal).update(forged)
    with pytest.raises(ValueError, match="ConformalCalibrator"):
        cal._check_sound()


BAD = {
    "score": ({"score": "best"}, {}, "`score` must be one of"),
    "map": ({"map": "step"}, {}, "`map` may be 'step' with score='signed' only"),
    "held_out": ({"held_out": 1.0}, {}, "`held_out` must be a number above 0 and below 1"),
    "coverage": ({"coverage": 90}, {}, "`coverage` must be strictly between 0 and 1"),
    "groups": ({}, {"groups": ["a"] * 9}, "`groups` were given, but ranks are not by group"),
    "X": ({}, {"X": np.ones((9, 1))}, "`X` was given, but nobody takes features"),
    "ratio": ({}, {"ratio": np.zeros(9)}, "`ratio` must be positive; 9 of 9"),
    "new_rows": ({}, {"new_rows": np.ones((9, 1))}, "`X` must be given with `new_rows`"),
    "both": ({}, {"ratio": np.ones(9), "new_rows": np.ones((9, 1))}, "not both"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_named(case, rng):
    settings, beside, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        ConformalCalibrator(**settings).fit(*forecasts(rng, 9), **beside)


def test_by_group_on_the_command_line(rng, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    law, y = forecasts(rng, 60)
    table = pd.DataFrame({"mean": law.loc, "std": law.scale, "y": y, "shop": np.tile(["a", "b"], 30)})
    table.to_csv("rows.csv", index=False)
    assert main(["fit", "rows.csv", "--method", "conformal", "--group", "shop", "-o", "file"]) == 0
    fitted = load("file")
    assert fitted.by == "groups" and fitted.guarantee_ in " ".join(capsys.readouterr().out.split())
    assert main(["apply", "file", "rows.csv", "-o", "out.csv", "--coverage", "0.8"]) == 0
    ends = pd.read_csv("out.csv")[["lo-80", "hi-80"]].to_numpy()
    expected = fitted.transform(law, groups=table["shop"]).interval(0.8)
    np.testing.assert_allclose(ends, expected, rtol=1e-9)
    with pytest.raises(ValueError, match=r"sees to groups itself. Say ConformalCalibrator\(by='groups'\)"):
        GroupedCalibrator(ConformalCalibrator()).fit(law, y, groups=table["shop"])


def test_what_differs_from_the_fit_is_named(rng):
    law, y = forecasts(rng, 20)
    with pytest.raises(ValueError, match="`forecasts` must be laws, as in fit; got points"):
        ConformalCalibrator().fit(law, y).transform(law.loc)
    with pytest.raises(ValueError, match="`forecasts` must be points, as in fit; got laws"):
        ConformalCalibrator().fit(law.loc, y).transform(law)
    with pytest.raises(ValueError, match="`ratio` must be given here, as in fit"):
        ConformalCalibrator().fit(law, y, ratio=np.ones(20)).transform(law)
    with pytest.raises(TypeError, match="not of class scores. Use ConformalSets"):
        ConformalCalibrator(PlattCalibrator()).fit(law, y)


class TestMapOnDemand:
    """Intervals need ranks only: the map is learned when something else is asked for, and the rows are not kept."""

    def fitted(self, **options):
        rng = np.random.default_rng(0)
        mu = rng.normal(size=300)
        groups = np.arange(300) % 3 if options.get("by") else None
        return ConformalCalibrator(**options).fit(mu, mu + rng.normal(size=300), groups=groups)

    @pytest.mark.parametrize("by", [None, "groups"])
    def test_not_for_intervals(self, by):
        calibrator = self.fitted(by=by)
        law = calibrator.transform([0.0, 1.0], groups=[0, 1] if by else None)
        law.interval(0.9)
        assert all(isinstance(vars(part)["shape"], Pending) for part in calibrator.parts_.values())
        law.quantiles([0.5])
        assert any(isinstance(vars(part)["shape"], QuantileCalibrator) for part in calibrator.parts_.values())

    @pytest.mark.parametrize("copied", [deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
    def test_copies_have_it_and_no_rows(self, copied):
        calibrator = self.fitted()
        law, same = calibrator.transform([0.0]), copied(calibrator)
        assert isinstance(vars(same.all_rows_)["shape"], QuantileCalibrator)
        np.testing.assert_array_equal(same.transform([0.0]).quantiles([0.1, 0.9]), law.quantiles([0.1, 0.9]))
        np.testing.assert_array_equal(copied(law).quantiles([0.1]), law.quantiles([0.1]))


@pytest.mark.parametrize("read", [lambda mu: mu, lambda mu: (mu, np.ones(len(mu)))], ids=["points", "laws"])
@pytest.mark.parametrize("by", [None, "groups"])
def test_maps_that_are_learned_late_are_learned_from_what_fit_was_given(rng, read, by):
    mu, w = rng.normal(size=80), rng.integers(1, 4, 80).astype(float)
    y, beside = mu + 2 * rng.standard_normal(80), {} if by is None else {"groups": np.arange(80) % 2}
    kept = ConformalCalibrator(by=by).fit(read(mu.copy()), y.copy(), sample_weight=w.copy(), **beside)
    calibrator = ConformalCalibrator(by=by).fit(read(mu), y, sample_weight=w, **beside)
    new = mu[:4].copy()
    mu[:], y[:], w[:] = 7.0, 0.0, 1.0  # the caller's arrays are the caller's
    some = {name: labels[:4] for name, labels in beside.items()}
    said = [each.transform(read(new), **some).quantiles([0.1, 0.5, 0.8]) for each in (kept, calibrator)]
    assert np.array_equal(*said)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("score", "map"), [("signed", "step"), *product(("absolute", "signed", "cqr", "density"), ("identity", "spline"))]
)
@pytest.mark.parametrize("family", [Normal, Poisson])
def test_a_group_learns_from_its_rows_alone_what_it_would_by_itself(family, score, map, weighted, rng):
    n = 240
    mu = rng.gamma(4.0, 2.0, n)
    law = family(mu) if family is Poisson else Normal(mu, 1 + mu / 4)
    y = rng.poisson(2 * mu).astype(float)
    groups = rng.permutation(np.repeat(["a", "b", "c"], [120, 80, 40]))
    w = rng.integers(1, 4, n) if weighted else None
    options = {"score": score, "map": map, "coverage": [0.5, 0.9]}
    made = ConformalCalibrator(by="groups", **options).fit(law, y, groups=groups, sample_weight=w)
    together = made.transform(law, groups=groups)
    for name in "abc":
        mine = groups == name
        alone = ConformalCalibrator(**options).fit(law[mine], y[mine], sample_weight=w[mine] if weighted else None)
        by_itself = alone.transform(law[mine])
        for coverage in (0.5, 0.9):
            np.testing.assert_array_equal(together.interval(coverage)[mine], by_itself.interval(coverage))
        np.testing.assert_allclose(together.cdf(y)[mine], by_itself.cdf(y[mine]), rtol=1e-12)
