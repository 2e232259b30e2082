"""What is loaded gives the same bits as what was saved, for every calibrator of the library."""

from __future__ import annotations

import datetime
import functools
import io
import tracemalloc
from inspect import isabstract

import numpy as np
import pytest
from scipy.special import logit
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import BayesianRidge, LogisticRegression

import calibrant
from calibrant import (
    AutoCalibrator,
    BetaCalibrator,
    CalibratedClassifier,
    CalibratedRegressor,
    Chain,
    ConcavityRepair,
    DecisionCalibrator,
    FlowCalibrator,
    GPBetaCalibrator,
    GroupedCalibrator,
    Mixture,
    Normal,
    OneVsRestCalibrator,
    PlattCalibrator,
    PointCalibrator,
    PriorShiftCalibrator,
    QuantileCalibrator,
    ResidualCalibrator,
    ScaleCalibrator,
    SmoothedTree,
    StackCalibrator,
    StudentT,
    load,
    save,
)
from tests.common.examples import fit_example, transform_example
from tests.common.test_calibrators import CALIBRATORS as OF_LAWS
from tests.common.test_calibrators import EVERY
from tests.common.test_score_calibrators import CALIBRATORS as SCORED
from tests.common.test_score_calibrators import several, two_classes
from tests.store.test_calibrators import forged

pytestmark = pytest.mark.filterwarnings("ignore:.*probabilistic calibration.*:UserWarning")
LEVELS = [0.001, 0.1, 0.5, 0.9, 0.999]
OF_SCORES = {name: item for name, item in SCORED.items() if name != "boosted"}  # needs features: see its own tests


@pytest.fixture
def again(tmp_path):
    def saved_and_loaded(calibrator):
        save(calibrator, tmp_path / "file.calibrant")
        loaded = load(tmp_path / "file.calibrant")
        assert type(loaded) is type(calibrator) and repr(loaded) == repr(calibrator)
        assert sorted(vars(loaded)) == sorted(vars(calibrator))
        return loaded

    return saved_and_loaded


@pytest.fixture
def laws(rng):
    mu, sigma = rng.normal(0, 2, 160), np.exp(rng.normal(0, 0.5, 160))
    return Normal(mu, sigma), mu + 0.3 + 2 * sigma * rng.standard_normal(160)


def assert_same_laws(after, before, y):
    np.testing.assert_array_equal(after.quantiles(LEVELS), before.quantiles(LEVELS))
    np.testing.assert_array_equal(after.cdf(y), before.cdf(y))
    np.testing.assert_array_equal(after[:20].crps(y[:20]), before[:20].crps(y[:20]))  # mostly integrals
    if not before.has_atoms:
        np.testing.assert_array_equal(after.logpdf(y), before.logpdf(y))


def test_every_calibrator_is_here():
    names = {
        name for name in calibrant.__all__ if name.endswith("Calibrator") and not isabstract(getattr(calibrant, name))
    }
    tried = {type(item).__name__ for item in (*EVERY.values(), *OF_SCORES.values())}
    below = {  # or beside their other tests
        "BoostedClassCalibrator",
        "AutoCalibrator",
        "DecisionCalibrator",
        "FrameCalibrator",
        "GroupedCalibrator",
        "HorizonCalibrator",
        "MultilabelCalibrator",
        "OnlineCalibrator",
        "PointCalibrator",
        "PriorShiftCalibrator",
    }
    assert names <= tried | below


# ---- laws ----
SMALL_STACK = StackCalibrator([QuantileCalibrator(), FlowCalibrator(4, penalty=4.0)])
WEIGHTED = {"stack": SMALL_STACK, "quantile": QuantileCalibrator("ecdf")}


@pytest.mark.parametrize("name", WEIGHTED)
def test_with_weights(name, laws, again):
    forecasts, y = laws
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    calibrator = clone(WEIGHTED[name]).fit(forecasts, y, sample_weight=weights)
    assert_same_laws(again(calibrator).transform(forecasts), calibrator.transform(forecasts), y)


@pytest.mark.parametrize("method", ["linear", "isotonic", "ratio", "local", "mean-ratio", "inverse"])
def test_points(method, laws, again):
    forecasts, y = laws
    calibrator = PointCalibrator(method).fit(forecasts.mean() + 9, y + 9)
    loaded = again(calibrator)
    new = np.linspace(-20, 40, 99)
    np.testing.assert_array_equal(loaded.transform(new), calibrator.transform(new))
    assert_same_laws(loaded.transform(forecasts), calibrator.transform(forecasts), y)


@pytest.mark.parametrize(
    "calibrator",
    [
        ResidualCalibrator(),
        ResidualCalibrator("ecdf"),
        Chain([ResidualCalibrator(), QuantileCalibrator()]),
        Chain([PointCalibrator(), ResidualCalibrator()]),
    ],
)
def test_laws_of_points(calibrator, laws, again):
    forecasts, y = laws
    calibrator = clone(calibrator).fit(forecasts.mean(), y)
    assert_same_laws(again(calibrator).transform(forecasts.mean()), calibrator.transform(forecasts.mean()), y)


def test_chains_of_all_sorts(laws, again):
    forecasts, y = laws
    steps = [PointCalibrator("isotonic"), ScaleCalibrator("bins", n_bins=3), QuantileCalibrator("kde")]
    calibrator = Chain([Chain(steps[:2]), steps[2]]).fit(forecasts, y)
    assert_same_laws(again(calibrator).transform(forecasts), calibrator.transform(forecasts), y)


@pytest.mark.parametrize(
    "calibrator",
    [
        GPBetaCalibrator(),
        GPBetaCalibrator(8, kernel="quantiles", inducing="learned"),
        QuantileCalibrator(),
        ScaleCalibrator("bins", n_bins=3),
    ],
)
@pytest.mark.parametrize("kind", ["mixture", "student"])
def test_other_laws(kind, calibrator, laws, again):
    forecasts, y = laws
    loc, scale = forecasts.mean(), forecasts.std()
    other = StudentT(loc, scale, 4.0)
    if kind == "mixture":
        other = Mixture([Normal(loc - scale, 0.5 * scale), Normal(loc + scale, 0.8 * scale)], [0.4, 0.6])
    calibrator = clone(calibrator).fit(other, y)
    assert_same_laws(again(calibrator).transform(other), calibrator.transform(other), y)


GROUPS = {
    "strings": np.array(["a", "bb", "c"]),
    "objects": np.array(["a", 3, 0.5], dtype=object),
    "dates": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 6)],
    "pairs": [("x", 1), ("x", 2), ("y", 1)],
    "bools": np.array([True, False, True]),
    "floats": np.array([0.5, -1.0, 2.25]),
    "integers": np.array([7, -1, 10**15]),
}


@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("inner", [QuantileCalibrator(), Chain([ScaleCalibrator(), QuantileCalibrator("ecdf")])])
def test_groups(kind, inner, laws, again):
    forecasts, y = laws
    of_rows = np.arange(len(y)) % 3
    groups = [GROUPS[kind][i] for i in of_rows] if isinstance(GROUPS[kind], list) else GROUPS[kind][of_rows]
    calibrator = GroupedCalibrator(inner).fit(forecasts, y, groups=groups)
    loaded = again(calibrator)
    assert list(loaded.calibrators_) == list(calibrator.calibrators_)
    assert [type(name) for name in loaded.calibrators_] == [type(name) for name in calibrator.calibrators_]
    assert_same_laws(loaded.transform(forecasts, groups=groups), calibrator.transform(forecasts, groups=groups), y)


@pytest.mark.parametrize("candidates", [None, [ScaleCalibrator(), QuantileCalibrator()], {"mine": ScaleCalibrator()}])
def test_choice_of_laws(candidates, laws, again):
    forecasts, y = laws
    calibrator = AutoCalibrator(candidates, cv=3).fit(forecasts, y)
    loaded = again(calibrator)
    assert_same_laws(loaded.transform(forecasts), calibrator.transform(forecasts), y)
    assert str(loaded.comparison_) == str(calibrator.comparison_) and loaded.best_ == calibrator.best_


def test_choice_from_too_few_rows(laws, again):
    forecasts, y = laws
    with pytest.warns(UserWarning, match="too few"):
        calibrator = AutoCalibrator([QuantileCalibrator()]).fit(forecasts[:9], y[:9])
    assert_same_laws(again(calibrator).transform(forecasts), calibrator.transform(forecasts), y)


@pytest.mark.filterwarnings("ignore:.*rows.*:UserWarning")
@pytest.mark.parametrize("name", OF_LAWS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows(name, n, again):
    forecasts, y = Normal(np.zeros(n), 1.0), np.linspace(0.5, 1.0, n)
    calibrator = fit_example(clone(OF_LAWS[name]), forecasts, y)
    assert_same_laws(transform_example(again(calibrator), forecasts), transform_example(calibrator, forecasts), y)


@pytest.mark.parametrize("name", OF_LAWS)
@pytest.mark.parametrize("unit", [1e-150, 1e150])
@pytest.mark.usefixtures("laws_only")
def test_units(name, unit, laws, again):
    forecasts, y = laws
    forecasts = Normal(forecasts.mean() * unit, forecasts.std() * unit)
    calibrator = fit_example(clone(OF_LAWS[name]), forecasts, y * unit)
    before, after = transform_example(calibrator, forecasts), transform_example(again(calibrator), forecasts)
    np.testing.assert_array_equal(after.quantiles(LEVELS), before.quantiles(LEVELS))


# ---- classes ----
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", ["probabilities", "logits", "margins"])
@pytest.mark.parametrize("name", [name for name in OF_SCORES if "scikit-learn" not in name])
def test_class_scores(name, kind, classes, rng, again):
    p, y = several(rng, 300, classes)
    scores = p if kind == "probabilities" else np.log(p) if kind == "logits" else p - 0.5
    calibrator = clone(OF_SCORES[name]).set_params(scores_are=kind)
    try:
        calibrator.fit(scores, y)
    except ValueError as reason:
        assert kind == "margins" and "margins" in str(reason)  # noqa: PT017
        return
    np.testing.assert_array_equal(again(calibrator).transform(scores), calibrator.transform(scores))


@pytest.mark.parametrize("calibrator", [PriorShiftCalibrator(), PriorShiftCalibrator(priors=[0.2, 0.8])])
def test_prior_shift(calibrator, rng, again):
    p, y = two_classes(rng)
    calibrator = clone(calibrator).fit(p, y)
    loaded = again(calibrator)
    np.testing.assert_array_equal(loaded.transform(p[:50]), calibrator.transform(p[:50]))
    np.testing.assert_array_equal(loaded.find_priors(p[:50]), calibrator.find_priors(p[:50]))


def test_inner_calibrators_of_several_classes(rng, again):
    p, y = several(rng, 300, 4)
    for inner in (BetaCalibrator("am"), PlattCalibrator()):
        calibrator = OneVsRestCalibrator(inner).fit(p[y < 3], y[y < 3], classes=[0, 1, 2, 3])  # one without rows
        np.testing.assert_array_equal(again(calibrator).transform(p), calibrator.transform(p))


LABELS = {
    "strings": np.array(["no", "yes", "naïve – ☃"]),
    "bytes of text": np.array(["", " ", "\n"]),
    "objects": np.array(["no", "yes", "maybe"], dtype=object),
    "mixed objects": np.array([1, 2, 3], dtype=object),
    "integers": np.array([-1, 0, 2**40]),
    "small": np.array([1, 2, 3], dtype=np.int8),
    "floats": np.array([0.1, 1.5, 2.0]),
    "singles": np.array([0.1, 1.5, 2.0], dtype=np.float32),
}


@pytest.mark.parametrize("kind", [*LABELS, "bools"])
@pytest.mark.parametrize(
    "make", [PlattCalibrator, DecisionCalibrator, functools.partial(AutoCalibrator, cv=3, task="classification")]
)
def test_labels(kind, make, rng, again):
    p, y = several(rng, 240, 2 if kind == "bools" else 3)
    labels = y == 1 if kind == "bools" else LABELS[kind][y]
    calibrator = make().fit(p, labels)
    loaded = again(calibrator)
    assert loaded.classes_.dtype == calibrator.classes_.dtype
    assert loaded.classes_.tolist() == calibrator.classes_.tolist()
    assert [type(name) for name in loaded.classes_] == [type(name) for name in calibrator.classes_]
    use = "predict" if make is DecisionCalibrator else "transform"
    np.testing.assert_array_equal(getattr(loaded, use)(p), getattr(calibrator, use)(p))


@pytest.mark.parametrize("objective", ["proportions", "accuracy", "macro", "cost", "f1"])
@pytest.mark.parametrize("kind", ["probabilities", "positive", "logits", "margins"])
def test_decisions(objective, kind, rng, again):
    p, y = two_classes(rng)
    scores = {"probabilities": p, "positive": p / (1 - p), "logits": logit(p), "margins": p - 0.5}[kind]
    costs = [[0, 1], [5, 0]] if objective == "cost" else None
    calibrator = DecisionCalibrator(objective, cost_matrix=costs, scores_are=kind).fit(scores, y)
    loaded = again(calibrator)
    np.testing.assert_array_equal(loaded.predict(scores), calibrator.predict(scores))
    np.testing.assert_array_equal(loaded.weights_, calibrator.weights_)
    assert str(loaded.report_) == str(calibrator.report_)
    assert loaded.threshold_ == calibrator.threshold_ and loaded.path_ == calibrator.path_


@pytest.mark.parametrize("least", [4.0, 0.0, 100.0])
def test_concavities(least, rng, again):
    s = rng.random(2000)
    y = rng.random(2000) < np.where((s > 0.4) & (s < 0.6), 1 - s, s)
    calibrator = ConcavityRepair(least=least).fit(s, y)
    loaded = again(calibrator)
    np.testing.assert_array_equal(loaded.transform(s), calibrator.transform(s))
    assert loaded.repaired_.hull_area == calibrator.repaired_.hull_area


# ---- what cannot be saved ----
@pytest.mark.parametrize("ensemble", [False, True])
def test_whole_models(ensemble, rng, tmp_path):
    X = rng.normal(size=(90, 1))
    regressor = CalibratedRegressor(BayesianRidge(), cv=3, ensemble=ensemble).fit(X, X[:, 0])
    classifier = CalibratedClassifier(LogisticRegression(), cv=3, ensemble=ensemble).fit(X, X[:, 0] > 0)
    for model in (regressor, classifier):
        with pytest.raises(TypeError, match=r"has a model inside, .* Save (each of )?its \.calibrator"):
            save(model, tmp_path / "file")
    with pytest.raises(TypeError, match="a SmoothedTree has a model inside, .* Save its .calibrator_, if any"):
        save(SmoothedTree().fit(X, X[:, 0] > 0), tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_foreign_parts(laws, rng, tmp_path):
    forecasts, y = laws
    calibrator = GPBetaCalibrator(features=lambda law: law.mean() ** 2, hyperparameters="fixed").fit(forecasts, y)
    with pytest.raises(
        TypeError, match="GPBetaCalibrator.features: a builtins.function cannot be saved: only calibrators"
    ):
        save(calibrator, tmp_path / "file")
    p, labels = two_classes(rng)
    calibrator = OneVsRestCalibrator(IsotonicRegression(out_of_bounds="clip")).fit(p, labels)
    with pytest.raises(
        TypeError, match=r"OneVsRestCalibrator.calibrator: a sklearn\.isotonic\.IsotonicRegression cannot be"
    ):
        save(calibrator, tmp_path / "file")
    calibrator = QuantileCalibrator(atoms="random", random_state=np.random.default_rng(0)).fit(forecasts, y)
    with pytest.raises(TypeError, match="QuantileCalibrator.random_state: a numpy.random._generator.Generator cannot"):
        save(calibrator, tmp_path / "file")
    assert not list(tmp_path.iterdir())


# ---- files that once got through ----
def spoiled(path, change, part):
    """Change one array of a file, found by its place in the state, with a digest to match."""

    def spoil(text, members):
        tree = text["state"]["state"]
        for name in part:
            tree = tree[name]
        member = f"{tree['array']}.npy"
        buffer = io.BytesIO()
        np.save(buffer, change(np.load(io.BytesIO(members[member])).copy()))
        members[member] = buffer.getvalue()

    forged(path, spoil)


def jumping(values):
    values[len(values) // 2] += 5
    return values


@pytest.mark.parametrize(
    ("calibrator", "part", "change", "message"),
    [
        (QuantileCalibrator(), ("map_", "state", "values"), jumping, "SplineMap must not decrease"),
        (QuantileCalibrator(), ("map_", "state", "slopes"), lambda v: v * 1e307, "SplineMap must not decrease"),
        (QuantileCalibrator("ecdf"), ("map_", "state", "levels"), lambda v: v[:, None], "levels must be 1-dimensional"),
        (QuantileCalibrator("step"), ("map_", "state", "cumulative"), lambda v: 2 * v, "StepMap must not decrease"),
        (
            GPBetaCalibrator(),
            ("_inducing",),
            lambda v: np.repeat(v, 500, axis=0),
            "posterior of its .* inducing points",
        ),
        (ScaleCalibrator("bins", n_bins=3), ("factors_",), lambda v: v[:2], "factors_ must be positive, one a bin"),
        (ScaleCalibrator("bins", n_bins=3), ("edges_",), lambda v: v[::-1], "edges_ must not decrease"),
    ],
)
def test_forged_laws(calibrator, part, change, message, laws, tmp_path):
    forecasts, y = laws
    save(clone(calibrator).fit(forecasts, y), tmp_path / "file")
    spoiled(tmp_path / "file", change, part)
    with pytest.raises(ValueError, match=f"holds no sound calibrator: .*{message}"):
        load(tmp_path / "file")


@pytest.mark.parametrize("name", ["isotonic", "venn-abers", "binning"])
def test_forged_curves(name, rng, tmp_path):
    p, y = two_classes(rng)
    save(clone(OF_SCORES[name]).fit(p, y), tmp_path / "file")
    values = "lower" if name == "venn-abers" else "values"
    spoiled(tmp_path / "file", lambda v: v + 1.5, ("curves_", "list", 0, "state", values))
    with pytest.raises(ValueError, match="holds no sound calibrator: .*must give probabilities"):
        load(tmp_path / "file")


@pytest.mark.parametrize("header", [b"\x00" * 128, b"{'descr': (\xa0(", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', ((("])
def test_headers_that_are_none(header, laws, tmp_path):
    forecasts, y = laws
    save(QuantileCalibrator().fit(forecasts, y), tmp_path / "file")
    forged(tmp_path / "file", lambda _, members: members.update({"0.npy": header + members["0.npy"][len(header) :]}))
    with pytest.raises(ValueError, match="an array is not as long as it says"):
        load(tmp_path / "file")


def test_sizes_are_not_trusted(laws, tmp_path):
    forecasts, y = laws
    save(QuantileCalibrator().fit(forecasts, y), tmp_path / "file")
    content = bytearray((tmp_path / "file").read_bytes())
    end = content.rindex(b"PK\x05\x06")
    content[end + 12 : end + 16] = b"\xf0\xff\xff\xff"  # bytes of the directory
    (tmp_path / "file").write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="is no calibrator file, or damaged"):
            load(tmp_path / "file")
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


def test_many_classes_need_no_square(rng, tmp_path):
    save(DecisionCalibrator().fit(rng.dirichlet(np.ones(3), 30), np.arange(30) % 3), tmp_path / "file")
    spoiled(tmp_path / "file", lambda _: np.arange(20_000), ("classes_",))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="holds no sound calibrator"):
            load(tmp_path / "file")
        assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    finally:
        tracemalloc.stop()
