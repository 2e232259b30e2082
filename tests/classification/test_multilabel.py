from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression

from calibrant import IsotonicCalibrator, MultilabelCalibrator, PlattCalibrator, load, metrics, save


@pytest.fixture
def case(rng):
    x = rng.normal(0, 1.5, (600, 3))
    return expit(2.5 * x + 0.5), (rng.random((600, 3)) < expit(x)).astype(int)


@pytest.mark.parametrize("one", [PlattCalibrator(), IsotonicCalibrator()])
def test_each_label_is_calibrated_by_itself(one, case, rng):
    p, y = case
    weight = rng.integers(0, 3, 600)
    out = MultilabelCalibrator(one).fit(p, y, sample_weight=weight).transform(p)
    for j in range(3):
        alone = clone(one).fit(p[:, j], y[:, j], sample_weight=weight).transform(p[:, j])[:, 1]
        np.testing.assert_allclose(out[:, j], alone, atol=1e-12)
        assert metrics.log_loss(y[:, j], out[:, j]) < metrics.log_loss(y[:, j], p[:, j])
    repeated = np.repeat(np.arange(600), weight)
    again = MultilabelCalibrator(one).fit(p[repeated], y[repeated]).transform(p)
    np.testing.assert_allclose(again, out, atol=1e-6)


def test_kinds_of_input_agree(case):
    p, y = case
    expected = MultilabelCalibrator().fit(p, y).transform(p)
    lists = [np.column_stack([1 - column, column]) for column in p.T]
    for scores, labels in [(p.tolist(), y.tolist()), (lists, y.astype(bool)), (p, sparse.csr_matrix(y))]:
        np.testing.assert_allclose(MultilabelCalibrator().fit(scores, labels).transform(scores), expected)
    logits = MultilabelCalibrator(scores_are="logits").fit(logit(p), y).transform(logit(p))
    np.testing.assert_allclose(logits, expected, atol=1e-9)
    frame, turned = pd.DataFrame(p, columns=list("abc")), pd.DataFrame(y, columns=list("abc"))[list("cab")]
    named = MultilabelCalibrator().fit(frame, turned)
    np.testing.assert_allclose(named.transform(frame[["b", "c", "a"]]), expected)
    with pytest.raises(ValueError, match="`scores` must have the columns a, b, c; got x, b, c"):
        named.transform(frame.rename(columns={"a": "x"}))


def test_labels_that_all_or_none_have_and_missing_entries(case):
    p, y = case
    labels = y.astype(float)
    labels[:, 1], labels[:, 2] = 0, 1
    labels[:100, :2] = np.nan
    with pytest.warns(UserWarning, match="200 of 1800 entries of `y` are missing"):
        model = MultilabelCalibrator(IsotonicRegression(out_of_bounds="clip")).fit(p, labels)
    out = model.transform(p)
    np.testing.assert_allclose(out[:, 1], 1 / 502)
    np.testing.assert_allclose(out[:, 2], 601 / 602)
    alone = IsotonicRegression(out_of_bounds="clip").fit(p[100:, 0], y[100:, 0]).predict(p[:, 0])
    np.testing.assert_allclose(out[:, 0], np.clip(alone, 1e-12, 1 - 1e-12))


def test_saving(case, tmp_path):
    p, y = case
    model = MultilabelCalibrator(IsotonicCalibrator()).fit(pd.DataFrame(p, columns=list("abc")), y)
    save(model, tmp_path / "file")
    loaded = load(tmp_path / "file")
    np.testing.assert_array_equal(loaded.transform(p), model.transform(p))
    assert loaded.names_ == ("a", "b", "c")
    model.rates_ = np.array([0.5, 2.0, 0.5])
    with pytest.raises(ValueError, match="rates_ must be a share for each label"):
        model._check_sound()


def test_errors(case):
    p, y = case
    with pytest.raises(NotFittedError):
        MultilabelCalibrator().transform(p)
    for scores, labels, message in [
        (p, y[:, :2], r"`y` must be \(600, 3\), an entry for each score; got shape \(600, 2\)"),
        (p, y + 1, r"`y` must be 0 or 1; .* are not"),
        (2 * p, y, "`scores` must be probabilities between 0 and 1; .* Logits or margins"),
        (p[:, 0], y, r"`scores` must be \(n, labels\); got shape \(600,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            MultilabelCalibrator().fit(scores, labels)
    with pytest.raises(ValueError, match="`scores` must have 3 columns; got 2"):
        MultilabelCalibrator().fit(p, y).transform(p[:, :2])
    with pytest.raises(ValueError, match="at least one row of every label"), pytest.warns(UserWarning, match="1 of 6"):
        MultilabelCalibrator().fit(p[:2], np.array([[1, np.nan, 0], [0, 1, 1]]), sample_weight=[1, 0])
    with pytest.raises(ValueError, match="`scores_are` must be one of"):
        MultilabelCalibrator(scores_are="positive").fit(p, y)
    with pytest.raises(TypeError, match="`calibrator` must have fit"):
        MultilabelCalibrator(PlattCalibrator).fit(p, y)
