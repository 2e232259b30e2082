"""One cell of the experiment: a set, a base and a split, measured before and after recalibration."""

from __future__ import annotations

from typing import Any

from calibrant.maps.spline_fit import fit_spline

from ..data import Dataset, Split
from .measures import measure
from .protocol import forecasts


def cell(dataset: Dataset, base: Any, split: Split) -> dict[str, Any]:
    """Fit the default map to the out-of-fold scores and apply it to the refitted base's forecasts of the test rows."""
    calibration, test = forecasts(dataset, base, split)
    fitted = fit_spline((calibration.y - calibration.mean) / calibration.std)
    sizes = {"n_cal": len(calibration.y), "n_test": len(test.y)}
    return {**sizes, "before": measure(test), "after": measure(test, fitted)}
