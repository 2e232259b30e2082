"""Numbers of things are whole: whatever is annotated as ``int`` in the public hands refuses everything else."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import calibrant
from calibrant import CalibratedClassifier, CalibratedRegressor, Normal, displays, metrics
from calibrant.classification.base import ScoreCalibrator
from tests.common.examples import LAWS

N = 60
X = np.linspace(-2, 2, N)
Y = X + np.cos(np.arange(N) ** 2)
LAW = Normal(X, 1.0)
P = 1 / (1 + np.exp(-X))
LABELS = (Y > 0).astype(int)
FORECASTS = {"dist": (Y, LAW), "dists": (Y, LAW), "y_pred": (Y, X), "y_proba": (LABELS, P)}
OTHERS: dict[str, tuple[Any, ...]] = {
    "bootstrap_interval": (metrics.crps, Y, LAW),
    "bias_by_feature": (Y, X, X),
    "noise_floor": (metrics.ece, P),
    "calibration_floor": (N,),
}
FREE = {"random_state", "n_jobs"}  # scikit-learn's, which have meanings of their own
PAIRS = {"n_bins": {"distribution_calibration_error"}}  # two whole numbers; in its own test

Call = Callable[[Any], Any]


def whole(hand: Any) -> list[str]:
    """Names of the arguments that are whole numbers, or a whole number among other things."""
    known = inspect.signature(hand).parameters.values()
    return [p.name for p in known if "int" in str(p.annotation).split(" | ") or p.name == "n_bins"]


def hands() -> Iterator[tuple[str, str, Call]]:
    """Every public function, calibrator, picture and law with such an argument."""
    for name in metrics.__all__:
        measure = getattr(metrics, name)
        for argument in whole(measure) if inspect.isfunction(measure) else ():
            if name not in PAIRS.get(argument, ()):
                given = OTHERS.get(name) or FORECASTS[list(inspect.signature(measure).parameters)[1]]
                yield name, argument, lambda value, m=measure, g=given, a=argument: m(*g, **{a: value})
    for name in displays.__all__:
        make = getattr(getattr(displays, name), "from_predictions", None)
        for argument in whole(make) if make else ():
            taken = list(inspect.signature(make).parameters)
            beside = {"groups": LABELS, "X": X[:, None]}
            given, beside = FORECASTS[taken[1]], {key: value for key, value in beside.items() if key in taken}
            yield name, argument, lambda value, m=make, g=given, a=argument, b=beside: m(*g, **b, **{a: value})
    for name in calibrant.__all__:
        kind = getattr(calibrant, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            given = (P, LABELS) if issubclass(kind, ScoreCalibrator) else (LAW, Y)
            for argument in sorted(set(whole(kind)) - FREE):
                yield name, argument, lambda value, k=kind, g=given, a=argument: k(**{a: value}).fit(*g)
    for name, make in LAWS.items():
        yield name, "size", lambda value, m=make: m(np.random.default_rng(0)).sample(value)


HANDS = {f"{name}, {argument}": (argument, call) for name, argument, call in hands()}


def test_the_search_finds_them() -> None:
    some = {"ece, n_bins", "GPCCalibrator, n_basis", "PITDisplay, n_bins", "Normal, size", "noise_floor, n_draws"}
    assert some <= set(HANDS) and len(HANDS) > 40


@pytest.mark.parametrize("value", [2.5, True, "3", -1, 3.0])
@pytest.mark.parametrize("hand", HANDS)
def test_nothing_but_whole_numbers(hand: str, value: Any) -> None:
    argument, call = HANDS[hand]
    with pytest.raises(ValueError, match=f"`{argument}` must be "):
        call(value)


@pytest.mark.parametrize(
    "hand",
    [
        hand
        for hand in HANDS
        if hand.split(", ")[-1] not in {"size", "lags", "n_bumps", "row", "halvings", "free_classes"}
        and not hand.endswith("multicalibration_error, max_conditions")  # 0: all rows together
    ],
)
def test_nothing_of_which_there_is_none(hand: str) -> None:
    argument, call = HANDS[hand]
    with pytest.raises(ValueError, match=rf"`{argument}` must be a whole number of at least \d+; got 0"):
        call(0)


@pytest.mark.parametrize("value", [2.5, True, "3", 0, 1])
@pytest.mark.parametrize(("model", "y"), [(CalibratedRegressor, Y), (CalibratedClassifier, LABELS)])
def test_numbers_of_splits(model: Any, y: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="`cv` must be "):
        model(cv=value).fit(X[:, None], y)
