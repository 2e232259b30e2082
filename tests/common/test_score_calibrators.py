"""What must hold for every calibrator of class probabilities."""

from __future__ import annotations

import string

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

import calibrant
from calibrant import BoostedClassCalibrator, PriorShiftCalibrator
from calibrant.classification.base import ScoreCalibrator
from calibrant.classification.beta import BetaCalibrator
from calibrant.classification.binning import BinningCalibrator
from calibrant.classification.dirichlet import DirichletCalibrator
from calibrant.classification.isotonic import IsotonicCalibrator
from calibrant.classification.platt import PlattCalibrator
from calibrant.classification.reductions.one_vs_rest import OneVsRestCalibrator
from calibrant.classification.smooth_isotonic import SmoothIsotonicCalibrator
from calibrant.classification.temperature import TemperatureCalibrator
from calibrant.classification.vector import VectorCalibrator
from calibrant.classification.venn_abers import VennAbersCalibrator
from tests.common.examples import can_fit, exported, unlisted_calibrators


class Boosted(BoostedClassCalibrator):
    """With a feature that tells nothing."""

    def fit(self, scores, y, **beside):
        return super().fit(scores, y, X=_nothing(scores), **beside)

    def transform(self, scores):
        return super().transform(scores, X=_nothing(scores))


def _nothing(scores):
    return np.zeros((len(scores) if hasattr(scores, "__len__") else 1, 1))


LISTED = {
    "platt": PlattCalibrator(),
    "beta, abm": BetaCalibrator(),
    "beta, ab": BetaCalibrator("ab"),
    "beta, am": BetaCalibrator("am"),
    "beta, a": BetaCalibrator("a"),
    "binning": BinningCalibrator(8),
    "isotonic": IsotonicCalibrator(),
    "smooth isotonic": SmoothIsotonicCalibrator(),
    "venn-abers": VennAbersCalibrator(),
    "temperature": TemperatureCalibrator(),
    "vector": VectorCalibrator(),
    "dirichlet": DirichletCalibrator(),
    "one against rest": OneVsRestCalibrator(PlattCalibrator()),
    "one against rest, scikit-learn": OneVsRestCalibrator(IsotonicRegression(out_of_bounds="clip")),
}
OTHERS = unlisted_calibrators(ScoreCalibrator, LISTED, but=(PriorShiftCalibrator, BoostedClassCalibrator))
EVERY = LISTED | OTHERS | {"boosted": Boosted(20)}  # the shift of priors has no labels
CALIBRATORS = {name: calibrator for name, calibrator in EVERY.items() if can_fit(calibrator)}
NO_MARGINS = {"boosted", "beta, abm", "beta, ab", "beta, am", "beta, a", "temperature", "vector", "dirichlet"}
NO_LEVEL = {"beta, ab", "beta, a", "temperature"}  # 1/2 stays 1/2
FEW_STEPS = {"BayesianBinningCalibrator"}  # of classes with a hundred rows each
every = pytest.mark.parametrize("name", CALIBRATORS)


def two_classes(rng, n=400):
    """Overconfident probabilities of the second class, and labels 0 and 1."""
    x = rng.normal(0, 1.5, n)
    return expit(2.5 * x + 0.5), (rng.random(n) < expit(x)).astype(int)


def several(rng, n=600, classes=3):
    """Overconfident probabilities (n, K) and labels 0 ... K - 1."""
    x = rng.normal(0, 1.5, (n, classes))
    y = (softmax(x, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return softmax(2.5 * x, axis=1), y


def log_loss(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


def refuses(calibrator, scores, y):
    try:
        clone(calibrator).fit(scores, y)
    except ValueError:
        return True
    return False


def frozen(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def test_every_calibrator_is_here():
    of_scores = set(exported(calibrant, ScoreCalibrator).values())
    tried = {type(c) for c in EVERY.values()} - {Boosted} | {BoostedClassCalibrator}
    assert len(of_scores) >= 10 and of_scores - {PriorShiftCalibrator} == tried


@every
def test_is_an_estimator(name, rng):
    p, y = two_classes(rng)
    calibrator = clone(CALIBRATORS[name])
    assert calibrator.get_params()["clip"] == 1e-12
    assert calibrator.set_params(clip=1e-3).clip == 1e-3
    with pytest.raises(NotFittedError):
        calibrator.transform(p)
    assert calibrator.fit(p, y) is calibrator
    out = calibrator.transform(p)
    assert out.min() >= 1e-3 * (1 - 1e-9)
    np.testing.assert_array_equal(clone(calibrator).fit(p, y).transform(p), out)
    assert repr(calibrator).startswith(type(calibrator).__name__)


@every
def test_a_failed_fit_leaves_it_unfitted(name):
    calibrator = clone(CALIBRATORS[name])
    with pytest.raises(ValueError, match="two classes"):
        calibrator.fit([0.1, 0.2, 0.3], [1, 1, 1])
    with pytest.raises(NotFittedError):
        calibrator.transform([0.5])


@every
@pytest.mark.parametrize("classes", [2, 3])
def test_gives_probabilities_and_touches_nothing(name, classes, rng):
    p, y = several(rng, classes=classes)
    p, y, w = frozen(p), frozen(y), frozen(np.ones(len(p)))
    kept = p.copy(), y.copy()
    calibrator = clone(CALIBRATORS[name]).fit(p, y, sample_weight=w)
    out = calibrator.transform(p)
    assert out.shape == p.shape and out.dtype == np.float64
    np.testing.assert_allclose(out.sum(axis=1), 1, rtol=0, atol=1e-14)
    assert out.min() > 0 and out.max() < 1
    np.testing.assert_array_equal(p, kept[0])
    np.testing.assert_array_equal(y, kept[1])
    np.testing.assert_array_equal(calibrator.classes_, np.arange(classes))
    assert calibrator.n_rows_ == len(y)


@every
@pytest.mark.parametrize("classes", [2, 4])
def test_new_rows_lose_less(name, classes, rng):
    p, y = several(rng, 8000, classes)
    out = clone(CALIBRATORS[name]).fit(p[:4000], y[:4000]).transform(p[4000:])
    before, after = log_loss(p[4000:], y[4000:]), log_loss(out, y[4000:])
    if isinstance(getattr(CALIBRATORS[name], "calibrator", None), IsotonicRegression):
        out = np.clip(out, 1e-3, 1)  # textbook isotonic regression has zeros
        after = log_loss(out / out.sum(axis=1, keepdims=True), y[4000:])
    assert after < before - 0.1


@every
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_frequencies(name, classes, rng):
    p, y = several(rng, 150, classes)
    p = np.round(p, 2)
    p /= p.sum(axis=1, keepdims=True)
    w = rng.integers(0, 4, len(y))
    weighted = clone(CALIBRATORS[name]).fit(p, y, sample_weight=w)
    repeated = clone(CALIBRATORS[name]).fit(np.repeat(p, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.transform(p), repeated.transform(p), rtol=0, atol=1e-8)
    assert weighted.n_rows_ == (w > 0).sum()


@every
def test_order_of_rows_does_not_matter(name, rng):
    p, y = several(rng)
    order = rng.permutation(len(y))
    one, other = (clone(CALIBRATORS[name]).fit(*rows) for rows in ((p, y), (p[order], y[order])))
    np.testing.assert_allclose(one.transform(p), other.transform(p), rtol=0, atol=1e-10)


LABELS = {
    "strings": lambda y: np.array(["no", "yes"])[y],
    "list": lambda y: [("a", "b")[code] for code in y],
    "bool": lambda y: y == 1,
    "minus one": lambda y: 2 * y - 1,
    "float": lambda y: y * 1.0,
    "int8": lambda y: y.astype(np.int8),
    "objects": lambda y: np.array(["no", "yes"], dtype=object)[y],
    "pandas": lambda y: pd.Series(np.array(["no", "yes"])[y], index=np.arange(len(y))[::-1]),
    "categorical": lambda y: pd.Series(np.array(["no", "yes"])[y], dtype="category"),
    "polars": lambda y: pl.Series(np.array(["no", "yes"])[y]),
    "polars categorical": lambda y: pl.Series(np.array(["no", "yes"])[y], dtype=pl.Categorical),
    "tensor": lambda y: pytest.importorskip("torch").tensor(y),
    "column": lambda y: y[:, None],
}


@pytest.fixture(scope="module")
def known():
    """Calibrated probabilities of fits to plain arrays, by name and more."""
    return {}


def plain(known, key, p, y):
    """What the calibrator of that name makes of p after a fit to it; each test always has the same rows."""
    if key not in known:
        known[key] = clone(CALIBRATORS[key[0]]).fit(p, y).transform(p)
    return known[key]


@every
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_any_type(name, labels, rng, known):
    p, y = two_classes(rng, 60)
    expected = plain(known, (name, "labels"), p, y)
    calibrator = clone(CALIBRATORS[name]).fit(p, LABELS[labels](y))
    np.testing.assert_array_equal(calibrator.transform(p), expected)
    assert calibrator.classes_.shape == (2,)


SCORES = {
    "list": lambda p: p.tolist(),
    "float32": lambda p: p.astype(np.float32),
    "pandas": lambda p: pd.DataFrame(p, columns=["p_0", "p_1", "p_2"][: p.shape[1]]),
    "polars": lambda p: pl.DataFrame(p),
    "tensor": lambda p: pytest.importorskip("torch").tensor(p, requires_grad=True),
    "fortran": np.asfortranarray,
}


@every
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_any_type(name, kind, classes, rng, known):
    p, y = several(rng, 90, classes)
    p = np.round(p * 1024) / 1024
    p[:, 0] = 1 - p[:, 1:].sum(axis=1)  # so that single precision is exact
    expected = plain(known, (name, classes), p, y)
    calibrator = clone(CALIBRATORS[name]).fit(SCORES[kind](p), y)
    np.testing.assert_allclose(calibrator.transform(SCORES[kind](p)), expected, rtol=0, atol=1e-12)


@every
def test_one_column_is_the_second_class(name, rng):
    p, y = two_classes(rng)
    both = np.column_stack([1 - p, p])
    forms = [(p, p), (p[:, None], p), (both, p), (p, both), (pd.Series(p), pl.Series(p))]
    out = [clone(CALIBRATORS[name]).fit(fitted, y).transform(new) for fitted, new in forms]
    for other in out[1:]:
        np.testing.assert_allclose(other, out[0], rtol=0, atol=1e-12)
    assert np.corrcoef(out[0][:, 1], p)[0, 1] > 0.8


@every
def test_logits_are_as_good_as_probabilities(name, rng):
    p, y = several(rng)
    logits = np.log(p) + rng.normal(0, 3, (len(p), 1))
    one = clone(CALIBRATORS[name]).fit(p, y).transform(p)
    other = clone(CALIBRATORS[name]).set_params(scores_are="logits").fit(logits, y).transform(logits)
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-8)


@every
@pytest.mark.parametrize("classes", [2, 3])
def test_margins(name, classes, rng):
    x = rng.normal(0, 40, (500, classes))
    y = (softmax(x / 30, axis=1).cumsum(axis=1) > rng.random((500, 1))).argmax(axis=1)
    calibrator = clone(CALIBRATORS[name]).set_params(scores_are="margins")
    if name in NO_MARGINS or (name not in LISTED and refuses(calibrator, x, y)):
        with pytest.raises(ValueError, match="margins"):
            calibrator.fit(x, y)
        return
    out = calibrator.fit(x, y).transform(x)
    assert log_loss(out, y) < np.log(classes) - 0.1
    if classes == 2:
        one = calibrator.fit(x[:, 1] - x[:, 0], y).transform(x[:, 1] - x[:, 0])
        np.testing.assert_allclose(one, out, rtol=0, atol=1e-12)


@every
def test_missing_labels_are_left_out_with_a_warning(name, rng):
    p, y = two_classes(rng, 80)
    holes = y.astype(float)
    holes[[3, 5]] = np.nan
    with pytest.warns(UserWarning, match="2 of 80 rows have no label"):
        calibrator = clone(CALIBRATORS[name]).fit(p, holes)
    kept = np.isfinite(holes)
    expected = clone(CALIBRATORS[name]).fit(p[kept], y[kept]).transform(p)
    np.testing.assert_array_equal(calibrator.transform(p), expected)


BAD = {
    "one class": ([0.1, 0.9], ["a", "a"], ValueError, "at least two classes; all 2 labels are 'a'"),
    "logits": ([-1.2, 2.0], [0, 1], ValueError, 'Logits or margins\\? Say scores_are="logits"'),
    "sums": ([[0.2, 0.3], [0.5, 0.5]], [0, 1], ValueError, "must add up to 1; 1 of 2 do not, first row 0"),
    "nan": ([0.2, np.nan, 0.3], [0, 1, 1], ValueError, "`scores` must be finite; 1 of 3"),
    "lengths": ([0.2, 0.3], [0, 1, 1], ValueError, "one label per row of scores; got 3 for 2"),
    "empty": ([], [], ValueError, "at least one row"),
    "classes": (np.full((3, 3), 1 / 3), ["a", "b", "a"], ValueError, "`scores` has 3 columns, `y` 2 classes"),
    "text": (["high", "low"], [0, 1], TypeError, "`scores` must be numbers"),
    "none": (None, [0, 1], TypeError, "`scores` must be numbers; got None"),
}


@every
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(name, case):
    scores, y, error, message = BAD[case]
    with pytest.raises(error, match=message):
        clone(CALIBRATORS[name]).fit(scores, y)


@every
def test_bad_settings_are_named(name, rng):
    p, y = two_classes(rng, 30)
    with pytest.raises(ValueError, match="`clip` must be a number from 0 to below 0.5; got 0.5"):
        clone(CALIBRATORS[name]).set_params(clip=0.5).fit(p, y)
    with pytest.raises(ValueError, match="`scores_are` must be one of"):
        clone(CALIBRATORS[name]).set_params(scores_are="odds").fit(p, y)
    with pytest.raises(ValueError, match="non-negative"):
        clone(CALIBRATORS[name]).fit(p, y, sample_weight=np.full(30, -1.0))
    if "smoothing" in CALIBRATORS[name].get_params():
        with pytest.raises(ValueError, match="`smoothing` must be a number of rows, 0 or more; got -1"):
            clone(CALIBRATORS[name]).set_params(smoothing=-1).fit(p, y)


@every
def test_other_numbers_of_columns_are_an_error(name, rng):
    p, y = several(rng, 60)
    calibrator = clone(CALIBRATORS[name]).fit(p, y)
    with pytest.raises(ValueError, match="a column for each of the 3 classes; got 2"):
        calibrator.transform([0.2, 0.4])


@every
def test_constant_scores_give_the_share(name):
    y = np.repeat([0, 1], [30, 90])
    out = clone(CALIBRATORS[name]).fit(np.full(120, 0.7), y).transform([0.7])
    assert abs(out[0, 1] - 0.75) < 0.01


@every
def test_ties_everywhere(name, rng):
    p = np.repeat([0.1, 0.4, 0.8], 200)
    y = (rng.random(600) < np.repeat([0.2, 0.5, 0.6], 200)).astype(int)
    out = clone(CALIBRATORS[name]).fit(p, y).transform([0.1, 0.4, 0.8])[:, 1]
    assert (np.diff(out) > 0).all()
    shares = y.reshape(3, 200).mean(axis=1)
    np.testing.assert_allclose(out, shares, atol=0.15 if name in NO_LEVEL else 0.08)


@every
@pytest.mark.parametrize("p", [[0.2, 0.7], [0.7, 0.2], [0.5, 0.5], [0.0, 1.0]])
def test_two_rows(name, p):
    out = clone(CALIBRATORS[name]).fit(p, ["a", "b"]).transform([0.0, 0.3, 1.0])
    assert np.isfinite(out).all() and out.min() > 0
    assert (np.diff(out[:, 1]) >= -1e-12).all() or p == [0.7, 0.2]


@every
def test_zeros_and_ones(name, rng):
    p, y = two_classes(rng)
    p[:20], p[-20:] = 0.0, 1.0
    out = clone(CALIBRATORS[name]).fit(p, y).transform([0.0, 1e-300, 0.5, 1 - 1e-16, 1.0])
    assert np.isfinite(out).all() and out.min() > 0


@every
def test_separated_classes(name):
    p = np.linspace(0.01, 0.99, 40)
    out = clone(CALIBRATORS[name]).fit(p, p > 0.5).transform(p)
    assert out.min() > 0
    assert ((out[:, 1] > 0.5) == (p > 0.5)).all()


@every
def test_26_classes(name, rng):
    p, y = several(rng, 3000, 26)
    letters = np.array(list(string.ascii_lowercase))
    calibrator = clone(CALIBRATORS[name]).fit(p, letters[y])
    out = calibrator.transform(p)
    assert out.shape == (3000, 26) and calibrator.classes_.tolist() == letters.tolist()
    np.testing.assert_allclose(out.sum(axis=1), 1, atol=1e-13)
    lost = 0.1 if name in FEW_STEPS else 0.05
    assert (out.argmax(axis=1) == y).mean() > (p.argmax(axis=1) == y).mean() - lost


@every
def test_a_class_without_rows(name, rng):
    p, y = several(rng, 300)
    kept = y != 1
    numbered = clone(CALIBRATORS[name]).fit(p[kept], y[kept])
    named = clone(CALIBRATORS[name]).fit(p[kept], np.array(["a", "b", "c"])[y[kept]], classes=["a", "b", "c"])
    frame = pd.DataFrame(p, columns=["a", "b", "c"])
    read = clone(CALIBRATORS[name]).fit(frame[kept], np.array(["a", "b", "c"])[y[kept]])
    out = numbered.transform(p)
    np.testing.assert_array_equal(named.transform(p), out)
    np.testing.assert_array_equal(read.transform(frame), out)
    assert out.min() > 0
    assert name == "temperature" or out[:, 1].mean() < 0.1  # one number cannot tell classes apart
    assert named.classes_.tolist() == ["a", "b", "c"]


@every
def test_classes_in_another_order(name, rng):
    p, y = several(rng, 300)
    expected = clone(CALIBRATORS[name]).fit(p, y).transform(p)
    turned = clone(CALIBRATORS[name]).fit(p[:, ::-1], y, classes=[2, 1, 0])
    np.testing.assert_allclose(turned.transform(p[:, ::-1]), expected[:, ::-1], rtol=0, atol=1e-9)
