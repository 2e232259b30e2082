"""Least squares over an error-correcting code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from calibrant import ECOCCalibrator, PlattCalibrator
from calibrant.classification.reductions.ecoc import code_matrix, on_simplex


@pytest.mark.parametrize("code", ["exhaustive", "one-vs-rest", "random"])
def test_least_squares_as_published(code, rng):
    """Against a general solver of min |r - M p|² over p >= 0 that add up to 1."""
    matrix = code_matrix(code, 4)
    says = np.clip(matrix[:, 0] + rng.normal(0, 0.3, (6, len(matrix))), 0, 1)  # nearly sure of the first class
    found = on_simplex(matrix, says)
    one = LinearConstraint(np.ones((1, 4)), 1, 1)
    for answers, p in zip(says, found, strict=True):
        least = minimize(
            lambda q, r=answers: np.square(r - matrix @ q).sum(),
            np.full(4, 0.25),
            constraints=[one],
            bounds=[(0, 1)] * 4,
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(p, least.x, rtol=0, atol=1e-6)
    assert (found < 1e-12).any()


def test_answers_that_agree_are_kept(rng):
    p = rng.dirichlet(np.ones(5), 40)
    for code in ("exhaustive", "one-vs-rest", "random"):
        matrix = code_matrix(code, 5)
        np.testing.assert_allclose(on_simplex(matrix, p @ matrix.T), p, rtol=0, atol=1e-9)


def test_codes():
    assert code_matrix("auto", 2).tolist() == [[0, 1]] and code_matrix("auto", 3).tolist() == np.eye(3).tolist()
    for classes in (4, 7):
        lines = code_matrix("auto", classes)
        assert len(lines) == 2 ** (classes - 1) - 1
        both = {tuple(line) for line in np.vstack([lines, 1 - lines])}
        assert len(both) == 2 * len(lines) and lines.sum(axis=1).max() <= classes / 2
    many = code_matrix("auto", 26)
    assert many.shape == (26 + 48, 26) and np.linalg.matrix_rank(many) == 26
    np.testing.assert_array_equal(many, code_matrix("random", 26))


def test_each_question_learns_from_all_rows(rng):
    p, y = rng.dirichlet(np.ones(4), 300), rng.integers(0, 4, 300)
    model = ECOCCalibrator().fit(p, y)
    for line, each in zip(model.code_, model.calibrators_, strict=True):
        alone = PlattCalibrator().fit(p @ line, line[y] == 1)
        np.testing.assert_allclose(each.curves_[0].A, alone.curves_[0].A, rtol=1e-7)


def test_smoothing_by_hand(rng):
    p, y = rng.dirichlet(np.ones(3), 100), rng.integers(0, 3, 100)
    plain, more = (ECOCCalibrator(smoothing=a).fit(p, y).transform(p) for a in (0, 2))
    np.testing.assert_allclose(more, (100 * plain + 2) / 106, rtol=1e-9)


def test_errors(rng):
    p, y = rng.dirichlet(np.ones(3), 30), np.arange(30) % 3
    with pytest.raises(ValueError, match="`code` must be one of 'auto', 'exhaustive', 'one-vs-rest', 'random'"):
        ECOCCalibrator(code="dense").fit(p, y)
    with pytest.raises(ValueError, match=r"a line a question and 3 columns; got shape \(2, 2\)"):
        ECOCCalibrator(code=[[0, 1], [1, 0]]).fit(p, y)
    with pytest.raises(ValueError, match="`code` must tell all classes apart"):
        ECOCCalibrator(code=[[1, 0, 0]]).fit(p, y)
    given = ECOCCalibrator(code=[[1, 0, 0], [0, 1, 0]]).fit(p, y)
    assert given.transform(p).shape == (30, 3)
