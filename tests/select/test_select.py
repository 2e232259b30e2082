from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from calibrant import (
    AutoCalibrator,
    BinningCalibrator,
    CalibratedClassifier,
    CalibratedRegressor,
    Chain,
    Normal,
    PlattCalibrator,
    QuantileCalibrator,
    Quantiles,
    ScaleCalibrator,
    TemperatureCalibrator,
    compare,
    load,
    metrics,
    save,
)
from calibrant.select.reading import looks_like_classes


@pytest.fixture
def binary(rng):
    odds = rng.normal(0, 1.5, 1200)
    return expit(3 * odds), np.where(rng.random(1200) < expit(odds), "yes", "no")


@pytest.fixture
def normal(rng):
    mu = rng.normal(size=800)
    return Normal(mu, 1.0), mu + 2 * rng.standard_normal(800)


# ---- compare ----
def test_losses_by_hand(binary):
    p, y = binary
    splitter = KFold(4)
    table = compare(p, y, {"t": TemperatureCalibrator()}, cv=splitter)
    none, t = np.zeros(len(y)), np.zeros(len(y))
    for train, test in splitter.split(p):
        after = TemperatureCalibrator().fit(p[train], y[train]).transform(p[test])
        t[test] = -np.log(np.where(y[test] == "yes", after[:, 1], after[:, 0]))
        none[test] = -np.log(np.where(y[test] == "yes", p[test], 1 - p[test]))
    assert table.names == ("none", "t") and table.best == "t"
    np.testing.assert_allclose(table.loss, [none.mean(), t.mean()])
    np.testing.assert_allclose(table.error, [(none - t).std() / np.sqrt(len(y)), 0], atol=1e-12)
    assert "above best" in str(table) and str(table).index("t ") < str(table).index("none")


def test_none_wins_where_nothing_is_wrong(rng):
    odds = rng.normal(0, 1.5, 4000)
    y = rng.random(4000) < expit(odds)
    assert compare(expit(odds), y, [PlattCalibrator(), BinningCalibrator()]).best == "none"
    mu = rng.normal(size=1000)
    candidates = [QuantileCalibrator("ecdf"), QuantileCalibrator("isotonic")]
    table = compare(Normal(mu, 1.0), mu + rng.normal(size=1000), candidates)
    assert table.best == "none" and table.names[1].startswith("QuantileCalibrator(")


def test_weight_two_is_the_row_twice(binary, rng):
    p, y = binary
    w = rng.integers(0, 3, len(y))
    one = compare(p, y, [PlattCalibrator()], sample_weight=w)
    two = compare(np.repeat(p, w), np.repeat(y, w), [PlattCalibrator()])
    np.testing.assert_allclose(one.loss, two.loss, rtol=1e-9)
    np.testing.assert_allclose(one.error, two.error, rtol=1e-6)


def test_regression_by_the_same_code(normal):
    law, y = normal
    with parallel_config(n_jobs=2):
        table = compare(law, y, [ScaleCalibrator(), QuantileCalibrator()])
    assert table.best != "none"
    assert table.loss[0] == pytest.approx(metrics.nll(y, law))
    np.testing.assert_array_equal(table.loss, compare(law, y, [ScaleCalibrator(), QuantileCalibrator()]).loss)


def test_measures_and_their_errors(normal):
    law, y = normal
    calls = []
    table = compare(law, y, [QuantileCalibrator()], progress=lambda done, of: calls.append((done, of)))
    assert calls[-1] == (10, 10)
    none, fitted = table.measures
    rows = metrics.nll(y, law, per_row=True)
    assert none["nll"][:2] == pytest.approx((rows.mean(), rows.std(ddof=1) / np.sqrt(len(y))))
    for key in ("crps", "calibration_error", "anderson_darling"):
        assert none[key].value == pytest.approx(getattr(metrics, key)(y, law))
    assert none["coverage_90"].value == pytest.approx(metrics.coverage(y, law))
    assert none["mean_std"].value == 1 < 1.9 < fitted["mean_std"].value
    assert fitted["anderson_darling"].value < 3 < none["anderson_darling"].value
    np.testing.assert_array_equal(table.front, [False, True])
    assert "*" in str(table) and table.recommendation.startswith("Take QuantileCalibrator: its loss of")
    frame = table.to_frame()
    assert frame.loc["none", "crps"] == pytest.approx(metrics.crps(y, law))
    assert frame.loc["none", "nll_error"] == pytest.approx(none["nll"].error)


def test_classes_have_their_measures(binary):
    p, y = binary
    none = compare(p, y, [PlattCalibrator()]).measures[0]
    assert none["brier_score"].value == pytest.approx(metrics.brier_score(y, p))
    assert none["ece"].value == pytest.approx(metrics.ece(y, p))


def test_time_is_kept_in_order(rng):
    n = 600
    when, mu = rng.permutation(n), rng.normal(size=n)
    y = mu + (1 + when / 100) * rng.standard_normal(n)  # ever more uncertain

    class Spy(ScaleCalibrator):
        def fit(self, forecasts, y, *, sample_weight=None):
            last.append(forecasts.loc[-1])
            return super().fit(forecasts, y, sample_weight=sample_weight)

    last = []
    table = compare(Normal(mu, 1.0), y, {"spy": Spy()}, time=when, cv=3)
    at = [mu[when == place - 1][0] for place in (150, 300, 450)]
    assert last == at
    tested = np.argsort(when)[150:]
    assert table.loss[0] == pytest.approx(metrics.nll(y[tested], Normal(mu, 1.0)[tested]))
    with pytest.raises(ValueError, match="`time` must have one entry per forecast"):
        compare(Normal(mu, 1.0), y, [ScaleCalibrator()], time=when[:-1])


def test_repeated_folds(normal):
    law, y = normal
    once, thrice = compare(law, y, [ScaleCalibrator()]), compare(law, y, [ScaleCalibrator()], cv=(5, 3))
    assert thrice.loss[0] == pytest.approx(once.loss[0])
    assert thrice.error[0] == pytest.approx(once.error[0], rel=0.05)  # repetition is no new evidence


# ---- AutoCalibrator ----
def test_contract(binary):
    p, y = binary
    auto = AutoCalibrator()
    with pytest.raises(NotFittedError):
        auto.transform(p)
    assert auto.fit(p, y) is auto and auto.n_rows_ == 1200
    after = auto.transform(p)
    assert after.shape == (1200, 2)
    np.testing.assert_array_equal(clone(auto).fit(p, y).transform(p), after)
    assert metrics.log_loss(y, after) < metrics.log_loss(y, p) - 0.1
    assert auto.best_ == auto.comparison_.chosen and auto.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize(("width", "least", "most"), [(1.0, 0.0, 0.004), (1.2, -0.05, -0.005)])
def test_instead_of_none_the_map_that_holds_itself_back(width, least, most):
    """It costs next to nothing where nothing is wrong, and gains where a fault is within one standard error."""
    rises = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        mu = rng.normal(size=4120)
        law, y = Normal(mu, 1.0), mu + width * rng.standard_normal(4120)
        auto = AutoCalibrator([QuantileCalibrator()], cv=3).fit(law[:120], y[:120])
        if auto.comparison_.chosen == "none":
            assert auto.best_ == "QuantileCalibrator"
            rises.append(metrics.nll(y[120:], auto.transform(law[120:])) - metrics.nll(y[120:], law[120:]))
    assert len(rises) >= 4 and least < np.mean(rises) < most


def test_none_where_no_candidate_holds_itself_back(rng):
    mu = rng.normal(size=300)
    few = [ScaleCalibrator(), QuantileCalibrator("ecdf")]
    auto = AutoCalibrator(few).fit(Normal(mu, 1.0), mu + rng.standard_normal(300))
    assert auto.best_ == auto.comparison_.chosen == "none"


def test_inside_the_estimators(normal):
    X, y = load_breast_cancer(return_X_y=True)
    model = CalibratedClassifier(GaussianNB(), calibrator=AutoCalibrator(), cv=3).fit(X[::2], y[::2])
    base = GaussianNB().fit(X[::2], y[::2])
    assert metrics.log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.5 * metrics.log_loss(
        y[1::2], base.predict_proba(X[1::2])
    )
    law, z = normal
    few = AutoCalibrator([ScaleCalibrator(), QuantileCalibrator()])
    regressor = CalibratedRegressor(BayesianRidge(), few, cv=3).fit(law.mean()[:, None], z)
    assert regressor.calibrator_.best_ in ("none", "ScaleCalibrator", "QuantileCalibrator")
    assert np.isfinite(regressor.predict_interval(law.mean()[:5, None])).all()
    chained = Chain([ScaleCalibrator(), few]).fit(law, z)
    assert np.isfinite(chained.transform(law).std()).all()


def test_margins_have_no_none(rng):
    s = rng.normal(0, 2, 500)
    y = rng.random(500) < expit(s - 1)
    auto = AutoCalibrator(scores_are="margins").fit(s, y)
    assert "none" not in auto.comparison_.names
    assert auto.transform(s).shape == (500, 2)


def test_many_classes_and_few_rows(rng):
    odds = rng.normal(0, 2, (4400, 4))
    y = np.array([rng.choice(4, p=row) for row in softmax(odds / 2, axis=1)])
    auto = AutoCalibrator().fit(softmax(odds[:400], axis=1), y[:400])
    fresh, told = auto.transform(softmax(odds[400:], axis=1)), softmax(odds[400:], axis=1)
    truth = metrics.log_loss(y[400:], softmax(odds[400:] / 2, axis=1))
    assert metrics.log_loss(y[400:], told) > truth + 0.1 > metrics.log_loss(y[400:], fresh) + 0.07
    with pytest.warns(UserWarning, match="only 4 rows, 1 of the rarest outcome: too few"):
        few = AutoCalibrator().fit([0.1, 0.2, 0.7, 0.8], [0, 0, 0, 1])
    assert few.best_ == "none"


def test_bad_input(binary):
    p, y = binary
    with pytest.raises(ValueError, match="`candidates` must name at least one"):
        AutoCalibrator([]).fit(p, y)
    with pytest.raises(TypeError, match=r"`candidates\[0\]` must have fit and transform"):
        AutoCalibrator([PlattCalibrator]).fit(p, y)
    with pytest.raises(ValueError, match="`task` must be one of"):
        AutoCalibrator(task="ranking").fit(p, y)
    with pytest.raises(ValueError, match="Logits or margins"):
        AutoCalibrator().fit(10 * p, y)


def test_margins_of_several_classes(rng):
    """Three columns of margins are no samples."""
    s = rng.normal(0, 2, (300, 3))
    y = np.array(["a", "b", "c"])[np.argmax(s + rng.gumbel(size=(300, 3)), axis=1)]
    auto = AutoCalibrator(scores_are="margins").fit(s, y)
    assert auto.transform(s).shape == (300, 3) and auto.classes_.tolist() == ["a", "b", "c"]
    numbers = AutoCalibrator(scores_are="margins").fit(s, np.argmax(s, axis=1))
    assert numbers.transform(s).shape == (300, 3)


def test_one_log_score_whatever_has_atoms(rng):
    """One tied row of quantiles does not turn densities into something else."""
    mu = rng.normal(size=200)
    values = mu[:, None] + np.array([-1.2816, 0.0, 1.2816])
    y = mu + 1.5 * rng.standard_normal(200)
    smooth = compare(Quantiles([0.1, 0.5, 0.9], values), y, [ScaleCalibrator(), QuantileCalibrator()])
    tied = values.copy()
    tied[0, 1] = tied[0, 0]  # an atom, at which nothing happened
    ties = compare(Quantiles([0.1, 0.5, 0.9], tied), y, [ScaleCalibrator(), QuantileCalibrator()])
    np.testing.assert_allclose(ties.loss, smooth.loss, atol=0.05)
    assert smooth.loss[0] == pytest.approx(metrics.nll(y, Quantiles([0.1, 0.5, 0.9], values)))
    auto = AutoCalibrator([ScaleCalibrator()]).fit(Quantiles([0.1, 0.5, 0.9], tied), y)
    np.testing.assert_allclose(auto.comparison_.loss, ties.loss[:2], atol=1e-9)


def test_the_old_order_of_arguments_is_told(normal):
    law, y = normal
    with pytest.raises(
        TypeError, match=r"`y` must be outcomes; got forecasts \(Normal\). Arguments in the wrong order"
    ):
        compare([ScaleCalibrator()], law, y)
    with pytest.raises(TypeError, match="`candidates` must be calibrators, by name or in a list; got ndarray"):
        compare(law, y, y)


@pytest.mark.parametrize(("scores", "y", "classes"), [
    ([0.1, 0.9], [0, 1], True), ([-0.5, 0.5], [0, 1], False), ([0.5, 1.5], [0, 1], False), ([0.1, 0.9], [0.5, 1], False)
])  # fmt: skip
def test_what_looks_like_classes(scores, y, classes):
    assert looks_like_classes(scores, y) is classes


def test_candidates_by_the_names_of_the_command_line(normal, binary, tmp_path):
    law, y = normal[0][:200], normal[1][:200]
    found = compare(law, y, ["Scale", QuantileCalibrator("ecdf"), "quantile"], cv=2)
    same = compare(law, y, [ScaleCalibrator(), QuantileCalibrator("ecdf")], cv=2)
    assert found.names[:2] == ("none", "scale") and "quantile" in found.names
    assert found.loss[1] == pytest.approx(same.loss[1], rel=1e-12)
    assert compare(law, y, {"a": "scale"}, cv=2).loss[1] == pytest.approx(same.loss[1], rel=1e-12)
    auto = AutoCalibrator(["scale"], cv=2).fit(law, y)
    save(auto, tmp_path / "auto.calibrant")
    again = load(tmp_path / "auto.calibrant")
    assert auto.best_ == again.best_ == "scale" and again.candidates == ["scale"]
    scores, labels = (part[:300] for part in binary)
    assert AutoCalibrator(["temperature", "platt"], cv=2).fit(scores, labels).best_ in ("temperature", "platt")
    assert AutoCalibrator(["temperature"]).takes.forecasts == ("scores",)
    assert "X" in AutoCalibrator(["boosted"]).takes.beside and "X" not in AutoCalibrator(["scale"]).takes.beside
    with pytest.raises(
        ValueError, match=r"`candidates\[1\]`: method 'platt' is not for distributions; these are: quant"
    ):
        compare(law, y, ["scale", "platt"])
    with pytest.raises(ValueError, match="method 'scal' is not known, 'scale' perhaps"):
        AutoCalibrator(["scal"]).fit(law, y)
    with pytest.raises(ValueError, match="`candidates` must differ; got "):
        compare(law, y, ["scale", "scale"])
