"""Curves from predicted to expected values: straight, stepped, through 0, local, or a line turned round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from ..._checks import Array, complain
from ...metrics._inputs import EPS, equal_mass_bins
from ...metrics.points.errors import near_zero
from ...numerics.soundness import check_finite, check_numbers

CELLS = 256  # points of a local curve at most
SPANS = np.geomspace(0.02, 1.0, 12)  # shares of the rows that a local line is fitted to
_FEWEST = 5  # distinct predictions that a local line is fitted to
_CANCELLED = 0.01  # predictions whose mean is a smaller share of their mean size have no ratio
_UNRELATED = 1e-4  # a line of x on y that explains a smaller share of x cannot be turned round


@dataclass(frozen=True, eq=False)
class BentLine:
    """A line with bends: linear between knots, with its own slope on each side beyond them.

    Parameters
    ----------
    knots, values : arrays (k,)
        Corners, by increasing knot.
    slopes : tuple of two floats
        Slopes to the left and to the right of the corners.

    Examples
    --------
    >>> BentLine(np.array([0.0, 2.0]), np.array([0.0, 4.0]), (1.0, 0.5))(np.array([-1.0, 1.0, 4.0]))
    array([-1.,  2.,  5.])
    """

    _ascending: ClassVar[tuple[str, ...]] = ("knots",)

    knots: Array
    values: Array
    slopes: tuple[float, float]

    def __call__(self, x: Array) -> Array:
        """Height of the line."""
        inside = np.clip(x, self.knots[0], self.knots[-1])
        slope = np.where(x < self.knots[0], self.slopes[0], self.slopes[1])
        return np.asarray(np.interp(inside, self.knots, self.values) + slope * (x - inside))

    def _check_sound(self) -> None:
        """Raise ValueError if these are no corners and slopes: they may come from anywhere."""
        check_finite(self, "knots", "values", "slopes")
        check_numbers(self)
        if self.knots.ndim != 1 or self.knots.shape != self.values.shape or len(self.slopes) != 2:
            raise ValueError("BentLine must have a value for each knot, and two slopes.")

    def rescaled(self, unit: float) -> BentLine:
        """The line for predictions and outcomes in another unit."""
        return BentLine(self.knots * unit, self.values * unit, self.slopes)


def fit_curve(method: str, x: Array, y: Array, weights: Array | None) -> BentLine:
    """Fit a curve to predictions x and outcomes y; squares neither overflow nor underflow in any unit."""
    unit = 2.0 ** np.ceil(np.log2(max(np.abs(x).max(), np.abs(y).max(), 2.0**-1000)))
    w = np.ones(len(x)) if weights is None else weights
    return FITS[method](x / unit, y / unit, w).rescaled(float(unit))


def fit_line(x: Array, y: Array, w: Array) -> BentLine:
    """Weighted least squares of y on x; with slope 1 if all x are equal."""
    x_mean, y_mean = np.average(x, weights=w), np.average(y, weights=w)
    dx = x - x_mean
    flat = np.ptp(x) <= 8 * EPS * np.abs(x).max()
    slope = 1.0 if flat else float(w @ (dx * (y - y_mean)) / (w @ np.square(dx)))
    return BentLine(np.array([x_mean]), np.array([y_mean]), (slope, slope))


def fit_isotonic(x: Array, y: Array, w: Array) -> BentLine:
    """The increasing curve of least squares, by pooling adjacent violators; constant beyond the data."""
    x, y, w = _pooled(x, y, w, np.unique(x, return_inverse=True)[1])
    blocks = isotonic_regression(y, weights=w).blocks
    first, last = blocks[:-1], blocks[1:] - 1
    mass = np.add.reduceat(w, first)
    level = np.add.reduceat(w * y, first) / mass
    ends, place = np.unique(np.concatenate([first, last]), return_index=True)
    return BentLine(x[ends], np.tile(level, 2)[place], (0.0, 0.0))


def fit_ratio(x: Array, y: Array, w: Array) -> BentLine:
    """The line through 0 whose slope is the sum of y over the sum of x."""
    total, size = w @ x, w @ np.abs(x)
    if not abs(total) > _CANCELLED * size:
        share = f"their mean is {total / size:.2g} of their mean size" if size > 0 else "all are 0"
        raise ValueError(f"predictions must not cancel out for method='ratio'; {share}. Use method='linear'.")
    ratio = float(w @ y / total)
    if ratio < 0:
        raise ValueError(
            f"predictions and outcomes must have means of one sign for method='ratio'; their ratio is {ratio:.3g}. "
            "Use method='linear'."
        )
    return BentLine(np.zeros(1), np.zeros(1), (ratio, ratio))


def fit_mean_ratio(x: Array, y: Array, w: Array) -> BentLine:
    """The line through 0 whose slope makes 1 of the mean of x / y."""
    hint = "Ratios to 0 do not exist; use method='ratio', or leave these rows out."
    complain("y", "away from 0 for method='mean-ratio'", y, near_zero(y), hint)
    mean, size = np.average(x / y, weights=w), np.average(np.abs(x / y), weights=w)
    if not mean > _CANCELLED * size:
        raise ValueError(
            "predictions and outcomes must have one sign for method='mean-ratio'; the mean of predicted / actual is "
            f"{mean:.3g}. Use method='linear'."
        )
    return BentLine(np.zeros(1), np.zeros(1), (float(1 / mean), float(1 / mean)))


def fit_inverse(x: Array, y: Array, w: Array) -> BentLine:
    """Weighted least squares of x on y, turned round; with slope 1 if all x are equal."""
    x_mean, y_mean = np.average(x, weights=w), np.average(y, weights=w)
    dx, dy = x - x_mean, y - y_mean
    if np.ptp(x) <= 8 * EPS * np.abs(x).max():
        return fit_line(x, y, w)
    shared = float(w @ (dx * dy))
    share = shared**2 / max(float(w @ np.square(dx)) * float(w @ np.square(dy)), 1e-300)
    if not share > _UNRELATED:
        raise ValueError(
            "predictions must follow the outcomes for method='inverse', which divides by the slope of predictions on "
            f"outcomes; their squared correlation is {share:.2g}. Use method='linear'."
        )
    slope = float(w @ np.square(dy)) / shared
    return BentLine(np.array([x_mean]), np.array([y_mean]), (slope, slope))


def fit_local(x: Array, y: Array, w: Array) -> BentLine:
    """Local lines through the nearest rows, as many as make new rows most probable, or one line through all.

    Rows are pooled into at most 256 cells of equal mass. The share of rows that each local line is fitted to (tricube
    weights, Cleveland 1979) minimises the corrected AIC of Hurvich, Simonoff and Tsai (1998). Without rounds against
    outliers: those would move the curve away from the mean.
    """
    line = fit_line(x, y, w)
    values, place = np.unique(x, return_inverse=True)
    if len(values) < _FEWEST:
        return line
    if len(values) > CELLS:
        place = equal_mass_bins(x, w, CELLS)
    knots, heights, mass = _pooled(x, y, w, place)
    inner = float(w @ np.square(y - heights[place]))
    best, least = line, _criterion(inner + float(mass @ np.square(heights - line(knots))), 2.0, w.sum())
    for span in SPANS:
        fitted, slopes, freedom = _local_lines(knots, heights, mass, span)
        value = _criterion(inner + float(mass @ np.square(heights - fitted)), freedom, w.sum())
        if value < least:
            best, least = BentLine(knots, fitted, (float(slopes[0]), float(slopes[-1]))), value
    return BentLine(best.knots, best.values + np.average(y - best(x), weights=w), best.slopes)


def _local_lines(x: Array, y: Array, mass: Array, span: float) -> tuple[Array, Array, float]:
    """Heights and slopes at x of the local lines, and their degrees of freedom."""
    distance = np.abs(x[:, None] - x)
    order = np.argsort(distance, axis=1)
    near = np.take_along_axis(distance, order, axis=1)
    reach = np.argmax(np.cumsum(mass[order], axis=1) >= span * mass.sum() * (1 - 1e-12), axis=1)
    reach = np.clip(reach, min(_FEWEST, len(x)) - 1, len(x) - 1)
    width = 1.001 * np.take_along_axis(near, reach[:, None], axis=1)
    kernel = mass * np.maximum(1 - (distance / width) ** 3, 0.0) ** 3
    kernel /= kernel.sum(axis=1, keepdims=True)
    centre, height = kernel @ x, kernel @ y
    dx = x - centre[:, None]
    lever = kernel * dx / (np.sum(kernel * dx**2, axis=1, keepdims=True) + 1e-12 * width**2)
    slope = np.sum(lever * (y - height[:, None]), axis=1)
    freedom = np.trace(kernel) + np.diag(lever) @ (x - centre)
    return height + slope * (x - centre), slope, float(freedom)


def _criterion(squares: float, freedom: float, rows: float) -> float:
    """Corrected AIC: log of the mean square, raised by what the degrees of freedom have taken from it."""
    spare = rows - freedom - 2
    if spare <= 0:
        return np.inf
    return float(np.log(max(squares / rows, EPS**2)) + 2 * (freedom + 1) / spare)


def _pooled(x: Array, y: Array, w: Array, place: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> tuple[Array, ...]:
    """Means of x and y, and weights, of each place."""
    mass = np.bincount(place, w).astype(np.float64)
    return np.bincount(place, w * x) / mass, np.bincount(place, w * y) / mass, mass


FITS: dict[str, Callable[[Array, Array, Array], BentLine]] = {
    "linear": fit_line,
    "isotonic": fit_isotonic,
    "ratio": fit_ratio,
    "local": fit_local,
    "mean-ratio": fit_mean_ratio,
    "inverse": fit_inverse,
}
