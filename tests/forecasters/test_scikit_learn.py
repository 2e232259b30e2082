from __future__ import annotations

import pytest

pytest.importorskip("torch")

from sklearn.utils.estimator_checks import parametrize_with_checks

from calibrant import ConcreteDropoutMLP, DeepEnsemble, DropoutMLP

QUICK = {"hidden": (16,), "max_epochs": 30, "learning_rate": 0.03, "batch_size": 64}
FAIL = {
    "check_sample_weight_equivalence_on_dense_data": "a row that is there twice falls into other batches than one of "
    "weight 2: equal in expectation only"
}


@parametrize_with_checks(
    [DropoutMLP(dropout=0.1, **QUICK), ConcreteDropoutMLP(**QUICK), DeepEnsemble(2, **QUICK)],
    expected_failed_checks=lambda _: FAIL,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
