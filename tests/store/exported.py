"""Calibrators that can be exported, to ONNX and to torch alike."""

from __future__ import annotations

from calibrant import AutoCalibrator, Chain, QuantileCalibrator, ResidualCalibrator, ScaleCalibrator
from calibrant.regression.map_choice import FITS

CALIBRATORS = {f"quantile, {name}": QuantileCalibrator(name) for name in FITS} | {
    "scale, nll": ScaleCalibrator(),
    "scale, coverage": ScaleCalibrator("coverage", coverage=0.8),
    "residual": ResidualCalibrator(),
    "chain": Chain([ScaleCalibrator(), QuantileCalibrator("ecdf"), ScaleCalibrator("coverage"), QuantileCalibrator()]),
    "chain to isotonic": Chain([QuantileCalibrator("kde"), QuantileCalibrator("isotonic")]),
    "chain to beta": Chain([QuantileCalibrator(), QuantileCalibrator("beta")]),
    "chain to residuals": Chain([QuantileCalibrator(), ResidualCalibrator(), QuantileCalibrator()]),
    "chain from steps": Chain([QuantileCalibrator("step"), ScaleCalibrator()]),
    "choice": AutoCalibrator([QuantileCalibrator()], cv=3),
}
