"""Class calibrators learn from summaries what they learn from rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone

from calibrant import BetaCalibrator, BinningCalibrator, PlattCalibrator

CALIBRATORS = {
    "platt": (PlattCalibrator(), 1e-6),
    "beta": (BetaCalibrator(), 1e-6),
    "beta, a": (BetaCalibrator("a", smoothing=0), 1e-6),
    "binning": (BinningCalibrator(8), 1e-3),
}
every = pytest.mark.parametrize("name", CALIBRATORS)


def rows(rng, n, classes):
    x = rng.normal(0, 1.5, (n, classes))
    y = (softmax(x, axis=1).cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return softmax(2.5 * x, axis=1), np.array(["x", "y", "z"])[y]


@every
@pytest.mark.parametrize("kind", ["probabilities", "logits", "margins"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [400, 24_000])
def test_from_a_summary_is_that_from_rows(name, kind, classes, n, rng):
    if kind == "margins" and "beta" in name:
        return
    calibrator, close = CALIBRATORS[name]
    p, y = rows(rng, n, classes)
    scores = p if kind == "probabilities" else np.log(p)
    w = rng.integers(0, 3, n).astype(float)
    expected = clone(calibrator).set_params(scores_are=kind).fit(scores, y, sample_weight=w)
    found = clone(calibrator).set_params(scores_are=kind)
    for part in np.array_split(rng.permutation(n), 3):
        found.partial_fit(scores[part], y[part], sample_weight=w[part])
    wrong = np.abs(found.transform(scores) - expected.transform(scores)) * w[:, None]
    assert wrong.sum() / w.sum() < (close if n > 16_384 else 1e-9)
    assert n > 16_384 or wrong.max() < 1e-7
    assert found.n_rows_ == expected.n_rows_ and found.classes_.tolist() == expected.classes_.tolist()


@every
def test_any_order_of_merging(name, rng):
    calibrator, _ = CALIBRATORS[name]
    p, y = rows(rng, 50_000, 3)
    parts = [clone(calibrator).summarise(p[c], y[c]) for c in np.array_split(rng.permutation(50_000), 9)]
    one, two = parts[0], parts[8]
    for part in parts[1:]:
        one = one + part
    for part in parts[7::-1]:
        two = part + two
    for grid, other in zip(one.grids, two.grids, strict=True):
        assert np.array_equal(grid.mass, other.mass) and np.array_equal(grid.keys, other.keys)
    a, b = (clone(calibrator).fit_summary(s).transform(p[:2000]) for s in (one, two))
    assert np.abs(a - b).max() < 1e-9


@pytest.mark.parametrize("name", ["platt", "beta", "binning"])
def test_certain_probabilities(name, rng):
    x = rng.normal(0, 1.5, 500)
    p, y = np.round(expit(2 * x), 1), rng.random(500) < expit(x)
    assert (p == 0).any() and (p == 1).any()
    calibrator, _ = CALIBRATORS[name]
    expected = clone(calibrator).fit(p, y)
    halves = [clone(calibrator).summarise(p[h], y[h]) for h in (slice(0, 200), slice(200, None))]
    found = clone(calibrator).fit_summary(halves[1] + halves[0])
    assert found.nearest_ == expected.nearest_
    np.testing.assert_allclose(found.transform(p), expected.transform(p), rtol=1e-7)


def test_chunks_without_some_class(rng):
    p, y = rows(rng, 600, 3)
    expected = PlattCalibrator().fit(p, y)
    found = PlattCalibrator()
    for label in "zxy":
        found.partial_fit(p[y == label], y[y == label], classes=["x", "y", "z"] if label == "z" else None)
    np.testing.assert_allclose(found.transform(p), expected.transform(p), rtol=1e-7)
    with pytest.raises(ValueError, match="`y` has only the label .x.. Say classes="):
        PlattCalibrator().partial_fit(p[y == "x"], y[y == "x"])
    with pytest.raises(ValueError, match="`y` must be one of the classes 'x', 'y', 'z'; 1 of 1 labels are not"):
        found.partial_fit(p[:1], ["w"])
    one = PlattCalibrator().summarise(p[y == "x"], y[y == "x"], classes=["x", "y", "z"])
    with pytest.raises(ValueError, match="`y` must have at least two classes; all labels of the summary are one"):
        PlattCalibrator().fit_summary(one)


def test_summaries_of_other_things(rng):
    p, y = rows(rng, 60, 3)
    odds, margins = PlattCalibrator().summarise(p, y), PlattCalibrator(scores_are="margins").summarise(p, y)
    with pytest.raises(ValueError, match="must be probabilities or logits for beta calibration; got margins"):
        BetaCalibrator().fit_summary(margins)
    with pytest.raises(ValueError, match="must be of probabilities of the classes 'x', 'y', 'z' too; it is of margins"):
        odds + margins
    with pytest.raises(ValueError, match="it is of probabilities of the classes 'y', 'x', 'z'"):
        odds + PlattCalibrator().summarise(p, y, classes=["y", "x", "z"])
    for calibrator in (BetaCalibrator(), BinningCalibrator()):  # one summary serves them all
        expected = clone(calibrator).fit(p, y)
        np.testing.assert_allclose(calibrator.fit_summary(odds).transform(p), expected.transform(p), rtol=1e-7)
