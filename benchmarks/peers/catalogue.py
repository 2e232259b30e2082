"""All jobs, and all libraries with what is imported before the clock starts."""

from __future__ import annotations

from . import binary, boosting, class_measures, classes, conformal, law_measures, laws, scores
from .job import OURS, Job

JOBS: tuple[Job, ...] = tuple(
    job
    for module in (binary, classes, class_measures, laws, conformal, scores, law_measures, boosting)
    for job in module.JOBS
)
NAMED = {job.name: job for job in JOBS}

LIBRARIES: dict[str, tuple[str, ...]] = {
    OURS: ("calibrant", "calibrant.displays", "lightgbm", "sklearn.linear_model", "sklearn.naive_bayes"),
    "scikit-learn": (
        "sklearn.calibration",
        "sklearn.isotonic",
        "sklearn.metrics",
        "sklearn.naive_bayes",
        "sklearn.frozen",
    ),
    "netcal": ("netcal.scaling", "netcal.binning", "netcal.metrics", "netcal.regression", "torch"),
    "uncertainty-toolbox": ("uncertainty_toolbox",),
    "MAPIE": ("mapie.regression", "mapie.classification", "sklearn.linear_model"),
    "crepes": ("crepes",),
    "betacal": ("betacal",),
    "venn-abers": ("venn_abers", "sklearn.naive_bayes"),
    "probmetrics": ("probmetrics.calibrators", "probmetrics.metrics", "torch"),
    "scoringrules": ("scoringrules",),
    "properscoring": ("properscoring",),
    "NGBoost": ("ngboost",),
}
