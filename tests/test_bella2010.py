"""Every formula and worked example of Bella et al. (2010), written out as printed, with what had to be put right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from calibrant import DecisionCalibrator, Histogram, PlattCalibrator, PointCalibrator, metrics

ROWS, CLASSES = 40, 3


@pytest.fixture
def case(rng):
    """f(i, j), p(i, j) and labels; probabilities in tenths, so that some are equal."""
    y = rng.integers(0, CLASSES, ROWS)
    return np.eye(CLASSES)[y], (rng.multinomial(7, [0.5, 0.3, 0.2], ROWS) + 1) / 10, y


# ---- measures of type CP ----
def test_mean_squared_error(case):
    f, p, y = case
    printed = sum((f[i, j] - p[i, j]) ** 2 for j in range(CLASSES) for i in range(ROWS)) / (ROWS * CLASSES)
    assert metrics.brier_score(y, p, scale="chapter") == pytest.approx(printed, rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*scores are different")
def test_decomposition(case):
    """As printed it counts n_l once too often in the first term and forgets n in the last; put right it adds up."""
    f, p, y = case
    right = printed = 0.0
    for j in range(CLASSES):
        mean = sum(f[i, j] for i in range(ROWS)) / ROWS
        for level in set(p[:, j]):
            mine = [i for i in range(ROWS) if p[i, j] == level]
            share = sum(f[i, j] for i in mine) / len(mine)
            right += sum((p[i, j] - share) ** 2 for i in mine) - len(mine) * (share - mean) ** 2
            printed += sum(len(mine) * (p[i, j] - share) ** 2 for i in mine) - len(mine) * (share - mean) ** 2
        right += ROWS * mean * (1 - mean)
        printed += mean * (1 - mean)
    score = metrics.brier_score(y, p, scale="chapter")
    assert right / (ROWS * CLASSES) == pytest.approx(score, rel=1e-10)
    assert abs(printed / (ROWS * CLASSES) - score) > 0.01
    parts = metrics.brier_decomposition(y, p, scale="chapter")
    total = parts.miscalibration - parts.discrimination + parts.uncertainty
    assert total == pytest.approx(right / (ROWS * CLASSES), rel=1e-10)


def test_log_loss(case):
    """The minus sign is missing in print."""
    f, p, y = case
    printed = sum(f[i, j] * np.log(p[i, j]) / ROWS for j in range(CLASSES) for i in range(ROWS))
    assert metrics.log_loss(y, p) == pytest.approx(-printed, rel=1e-12)


def test_calbin(rng):
    """As printed: n - s windows of which it forgets the last, and sums over windows where "average" is said."""
    p, y = rng.permutation(np.linspace(0.01, 0.99, ROWS)), rng.integers(0, 2, ROWS)
    order, s, n = np.argsort(p), ROWS // 10, ROWS
    q, f = p[order], y[order]
    errors = [sum(abs(q[i] - sum(f[b : b + s]) / s) for i in range(b, b + s)) for b in range(n - s + 1)]
    printed = sum(errors[:-1]) / (n - s)
    ours = metrics.calbin(y, p, form="example")
    assert ours == pytest.approx(sum(errors) / (n - s + 1) / s, rel=1e-12)
    assert ours == pytest.approx(printed / s, abs=1 / (n - s + 1))  # but for the last window, the factor s apart


def test_calloss_by_the_chapters_segments(case):
    """s_{j,b}: those of highest p(i, j) that are in no segment before. The square and the 1/n are missing in print."""
    f, p, y = case
    values = []
    for j in range(CLASSES):
        taken: set[int] = set()
        loss, collapsed, segments = 0.0, 0.0, 0
        while len(taken) < ROWS:
            free = [i for i in range(ROWS) if i not in taken]
            segment = [i for i in free if all(p[i, j] >= p[k, j] for k in free)]
            share = sum(f[i, j] for i in segment) / len(segment)
            loss += sum((p[i, j] - share) ** 2 for i in segment)
            collapsed += sum(p[i, j] - share for i in segment)
            taken |= set(segment)
            segments += 1
        assert segments == len(set(p[:, j]))
        assert collapsed == pytest.approx(ROWS * (p[:, j].mean() - f[:, j].mean()))  # as printed: blind to calibration
        values.append(loss / ROWS)
    assert metrics.calloss(y, p, segments="scores") == pytest.approx(np.mean(values), rel=1e-12)


def test_anderson_darling(rng):
    """Carney & Cunningham (2006), to whom the chapter refers, of the probability integral transforms."""
    u = np.sort(rng.random(30))
    terms = [(2 * i - 1) * (np.log(u[i - 1]) + np.log(1 - u[30 - i])) for i in range(1, 31)]
    law = Histogram(np.array([0.0, 1.0]), np.ones((30, 1)))
    assert metrics.anderson_darling(u, law) == pytest.approx(-30 - sum(terms) / 30, rel=1e-9)


# ---- type CD ----
def test_macro_average_and_f(case, rng):
    _, _, y = case
    guess = rng.integers(0, CLASSES, ROWS)
    partial = [np.mean(guess[y == j] == j) for j in range(CLASSES)]
    assert metrics.macro_accuracy(y, guess) == pytest.approx(np.mean(partial), rel=1e-12)
    f = []
    for j in range(CLASSES):
        precision, recall = np.mean(y[guess == j] == j), partial[j]
        f.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    assert metrics.f_measure(y, guess) == pytest.approx(np.mean(f), rel=1e-12)


def test_printed_confusion_tables():
    """Printed with the predicted classes as lines; the proportions read off them in the text."""
    for printed, real, predicted in (
        ([[20, 2, 3], [0, 30, 3], [0, 2, 40]], [20, 34, 46], [25, 33, 42]),
        ([[60, 2], [40, 23]], [100, 25], [62, 63]),
    ):
        table = np.array(printed)
        lines, columns = np.indices(table.shape)
        guess, y = (np.repeat(part.ravel(), table.ravel()) for part in (lines, columns))
        np.testing.assert_array_equal(metrics.confusion(y, guess), table.T)
        shares = metrics.class_proportions(y, guess)
        np.testing.assert_allclose(shares.actual * table.sum(), real)
        np.testing.assert_allclose(shares.predicted * table.sum(), predicted)


def test_ratio_and_threshold():
    """If r = p(a|x) / p(b|x) > u then a: naive Bayes products of .2 and .05 have r = 4."""
    scores = np.array([[0.2, 0.05], [0.1, 0.05], [0.02, 0.04], [0.03, 0.01]])
    model = DecisionCalibrator("proportions").fit(scores, ["b", "b", "b", "a"], classes=["a", "b"])
    u = np.exp(model.log_weights_[1] - model.log_weights_[0])
    assert 3 < u < 4  # one a of four rows
    np.testing.assert_array_equal(model.predict(scores), np.where(scores[:, 0] / scores[:, 1] > u, "a", "b"))


# ---- methods of type CP ----
def test_platts_sigmoid_of_the_probabilities(rng):
    """p* = 1 / (1 + exp(A p + B)) with A and B of most likelihood, given Platt's targets."""
    p = rng.random(300)
    y = rng.random(300) < p**2
    target = np.where(y, (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2))

    def loss(parameters):
        q = 1 / (1 + np.exp(parameters[0] * p + parameters[1]))
        return -np.sum(target * np.log(q) + (1 - target) * np.log(1 - q))

    best = minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-7}).x
    curve = PlattCalibrator(scores_are="margins").fit(p, y).curves_[0]
    np.testing.assert_allclose([curve.A, curve.B], best, rtol=1e-5)
    both = PlattCalibrator(scores_are="margins").fit(np.column_stack([1 - p, p]), y)
    np.testing.assert_allclose(both.transform(np.column_stack([1 - p, p]))[:, 1], curve(p), rtol=1e-9)
    of_odds = PlattCalibrator().fit(p, y)
    assert np.abs(of_odds.transform(p)[:, 1] - curve(p)).max() > 0.02


# ---- type RD ----
def test_points(rng):
    y, x = rng.uniform(1, 9, 50), rng.uniform(1, 9, 50)
    assert metrics.mean_error(y, x) == pytest.approx(sum(x - y) / 50)
    assert metrics.mean_ratio(y, x) == pytest.approx(sum(x / y) / 50)
    assert metrics.mse(y, x) == pytest.approx(sum((y - x) ** 2) / 50)
    right = sum((y - x) ** 2) / sum((y - y.mean()) ** 2)
    printed = sum((y - x) ** 2 / ((y - x.mean()) * 50))  # no square, and the mean of the predictions
    assert metrics.relative_mse(y, x) == pytest.approx(right) and abs(printed - right) > 0.1


def test_always_one_too_high(rng):
    """R1 "always predicting the true value plus 1 has a MAE of 1"; "subtracting 1 unit … would calibrate R1"."""
    y = rng.normal(0, 3, 60)
    assert metrics.mae(y, y + 1) == pytest.approx(1) and metrics.mean_error(y, y + 1) == pytest.approx(1)
    np.testing.assert_allclose(PointCalibrator().fit(y + 1, y).transform(y + 1), y, atol=1e-12)
    rare = y + np.where(np.arange(60) == 0, 60.0, 0.0)  # R2: one error of n
    assert metrics.mae(y, rare) == pytest.approx(1) and metrics.mean_error(y, rare) == pytest.approx(1)


def test_nine_of_ten(rng):
    """C1, right in 90 % with confidence .91, "is preferable to" C2, as often right with .99."""
    y = (np.arange(1000) % 10 > 0).astype(int)
    table = metrics.class_summary(y, {"C1": np.full(1000, 0.91), "C2": np.full(1000, 0.99)})
    assert table["accuracy"]["C1"] == table["accuracy"]["C2"] == 0.9
    for measure in ("log_loss", "mse_p", "calbin", "calloss", "calloss_scores"):
        assert table[measure]["C1"] < table[measure]["C2"]
    assert table["calloss_scores"]["C1"] == pytest.approx(0.01**2) and table["calloss_scores"]["C2"] == pytest.approx(
        0.09**2
    )


def test_the_coin_tosser_is_calibrated():
    """ "Which always assigns 0.5 probability": the risk of pure calibration measures."""
    y = np.tile([0, 1], 100)
    table = metrics.class_summary(y, np.full(200, 0.5))
    assert table["calbin"] == table["calloss"] == table["calloss_scores"] == 0 and table["auc"] == 0.5
