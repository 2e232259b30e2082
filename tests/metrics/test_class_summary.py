"""Class probabilities in one table, and the measures that only it shows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from calibrant import metrics
from calibrant.metrics.classes.specification import DRAWS

KEYS = [
    "log_loss", "brier_score", "ece", "ece_floor", "mse_p", "mse_p_calibration", "mse_p_discrimination",
    "mse_p_uncertainty", "calbin", "calbin_floor", "calloss", "calloss_floor", "calloss_scores",
    "calloss_scores_floor", "auc", "accuracy", "macro_accuracy", "f_measure", "proportion_error",
]  # fmt: skip


@pytest.fixture(params=[2, 4])
def case(request, rng):
    p = rng.dirichlet(np.ones(request.param), 200).round(2)
    p = (p + 1e-3) / (p + 1e-3).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) > rng.random((200, 1))).argmax(axis=1)
    return np.array(["w", "x", "y", "z"])[y], (p[:, 1] if request.param == 2 else p), rng.integers(1, 4, 200)


def test_ranking_and_decisions_are_those_of_scikit_learn(case):
    y, p, w = case
    for weight in (None, w):
        options = {"sample_weight": weight}
        expected = roc_auc_score(y, p, multi_class="ovr", **options) if weight is None or p.ndim == 1 else None
        if expected is not None:
            assert metrics.auc(y, p, **options) == pytest.approx(expected, rel=1e-12)
        names = np.unique(y)
        guess = names[(p > 0.5).astype(int) if p.ndim == 1 else p.argmax(axis=1)]
        table = metrics.class_summary(y, p, **options)
        assert table["accuracy"] == pytest.approx(accuracy_score(y, guess, **options), rel=1e-12)
        assert table["f_measure"] == pytest.approx(f1_score(y, guess, average="macro", **options), rel=1e-12)
        assert metrics.f_measure(y, guess, **options) == table["f_measure"]
        assert metrics.accuracy(y, guess, **options) == table["accuracy"]
        assert table["auc"] == pytest.approx(metrics.auc(y, p, **options))


def test_values_are_those_of_the_measures(case):
    y, p, _ = case
    table = metrics.class_summary(y, p)
    assert list(table) == KEYS and table.notes == {}
    parts = metrics.brier_decomposition(y, p, method="pav", scale="chapter")
    expected = {
        "log_loss": metrics.log_loss(y, p),
        "brier_score": metrics.brier_score(y, p),
        "mse_p": metrics.brier_score(y, p, scale="chapter"),
        "mse_p_calibration": parts.miscalibration,
        "mse_p_discrimination": parts.discrimination,
        "mse_p_uncertainty": parts.uncertainty,
        "calbin": metrics.calbin(y, p),
        "calloss": metrics.calloss(y, p),
        "calloss_scores": metrics.calloss(y, p, segments="scores"),
        "calbin_floor": metrics.noise_floor(metrics.calbin, p, n_draws=DRAWS),
        "ece_floor": metrics.noise_floor(metrics.ece, p, n_draws=DRAWS),
    }
    assert {key: table[key] for key in expected} == pytest.approx(expected, rel=1e-10)
    total = table["mse_p_calibration"] - table["mse_p_discrimination"] + table["mse_p_uncertainty"]
    assert table["mse_p"] == pytest.approx(total, rel=1e-10)


def test_weights_are_frequencies(case):
    y, p, w = case
    weighted = metrics.class_summary(y, p, sample_weight=w)
    repeated = metrics.class_summary(np.repeat(y, w), np.repeat(p, w, axis=0))
    known = [key for key in KEYS if not key.endswith("floor")]
    assert {key: weighted[key] for key in known} == pytest.approx({key: repeated[key] for key in known}, rel=1e-8)


def test_side_by_side(case):
    y, p, _ = case
    table = metrics.class_summary(y, {"given": p, "blunt": 0.5 * p + 0.5 * (0.5 if p.ndim == 1 else 0.25)})
    assert set(table["mse_p"]) == {"given", "blunt"} and table["calbin"]["blunt"] > table["calbin"]["given"]
    assert table["auc"]["blunt"] == pytest.approx(table["auc"]["given"], abs=1e-3)  # ties by rounding
    assert str(table).splitlines()[0].split() == ["given", "blunt"] and table.to_frame().shape == (len(KEYS), 2)


def test_calibrated_forecasters_are_at_their_floors(rng):
    p = rng.random(20_000)
    y = rng.random(20_000) < p
    table = metrics.class_summary(y, p)
    for key in ("ece", "calbin", "calloss", "calloss_scores"):
        assert table[key] == pytest.approx(table[f"{key}_floor"], rel=0.35)
    wrong = metrics.class_summary(y, p**2)
    assert wrong["calbin"] > 5 * wrong["calbin_floor"] and wrong["calloss"] > 5 * wrong["calloss_floor"]


def test_what_cannot_be_computed_is_missing_with_the_reason():
    table = metrics.class_summary([1, 1], [0.4, 0.6])
    assert np.isnan(table["auc"]) and "rows of at least two classes" in table.notes["auc"]
    named = metrics.class_summary([1, 1], {"a": [0.4, 0.6]})
    assert list(named.notes) == ["auc of a"]
    with pytest.raises(ValueError, match="at least two classes: one alone has no ranking"):
        metrics.auc([1, 1], [0.4, 0.6])
    with pytest.raises(ValueError, match="`y_proba` must have at least one classifier"):
        metrics.class_summary([0, 1], {})


def test_classes_without_rows_have_no_ranking_and_no_f():
    p = np.array([[0.5, 0.3, 0.2], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1]])
    y = [0, 1, 1]
    assert metrics.auc(y, p) == pytest.approx(np.mean([0.5, 0.75]))
    assert metrics.f_measure(y, [0, 1, 0], classes=[0, 1, 2]) == pytest.approx(2 / 3)
