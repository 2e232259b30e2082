"""Calibration of whole probability vectors, by a kernel between them."""

from __future__ import annotations

import numpy as np

from ..._checks import Array, one_of, sample_weights
from ..._types import Labels, Weights
from ...numerics.blocks import row_blocks
from ..tests.null_laws import quadratic_form_sf
from ..tests.uniformity import TestResult
from .forecasts import Probabilities, class_forecasts, class_probabilities
from .vector_groups import KERNELS, Kernel, LandmarkFeatures, VectorGroups, kernel_values, landmarks, vector_groups

MOST_PAIRS = 2**24  # of different vectors that are looked at
_DIMENSIONS, _FEWEST, _MOST = 480, 8, 96  # landmarks times classes, and landmarks
_NULL_ROWS = 4096  # different vectors that tell the null law
_MOST_CLASSES = 128


def kernel_calibration_error(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    kernel: Kernel = "laplacian",
    bandwidth: float | None = None,
    debiased: bool = False,
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> float:
    r"""Squared kernel calibration error of whole probability vectors; 0 is perfect.

    .. math:: \frac1{n^2} \sum_{i,j} h_{ij}, \quad h_{ij} = (e_i - p_i)^\top (e_j - p_j)\, k(p_i, p_j)

    Widmann, Lindsten and Zachariah (2019), with the kernel times the identity; :math:`e_i` is 1 at the class that came.
    Calibration is joint: :math:`P(Y = j \mid p) = p_j` for all classes given the whole vector (Song et al. 2018,
    def. 2). Errors of the top label or of single classes miss what cancels there: probability that is moved from one
    class to another in some vectors, and back in others. A calibrated forecaster does not score 0 but
    :func:`kernel_calibration_floor`, or 0 in expectation if debiased; :func:`kernel_calibration_test` gives a p-value.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`.
    kernel : {"laplacian", "gaussian"}
        :math:`k(p, q) = e^{-d/\nu}`, or :math:`e^{-d^2/2\nu^2}`, of the Euclidean distance d.
    bandwidth : float, optional
        ν; the root mean square distance of two rows' vectors unless told.
    debiased : bool
        The unbiased mean over pairs of different rows, :math:`\frac1{n(n-1)} \sum_{i \ne j} h_{ij}`, which may be
        negative; NaN for a single row.

    Notes
    -----
    Equal vectors are added up first. All pairs of up to 4 096 different vectors are looked at, in blocks; of more, the
    pairs within random parts of them (always the same), :math:`2^{24}` pairs or 64 a vector: unbiased still. Never an
    n × n table.

    Differs from the paper in: the bandwidth, there the median distance of pairs; rows within parts beyond 4 096
    vectors, there all pairs or consecutive ones.

    Examples
    --------
    >>> from calibrant import metrics
    >>> p = [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.5, 0.2, 0.3]]
    >>> metrics.kernel_calibration_error([2, 1, 0], p), metrics.kernel_calibration_error([2, 1, 0], p, debiased=True)
    (0.0639, -0.1608)
    """
    one_of(kernel, "kernel", KERNELS)
    groups = vector_groups(class_forecasts(y_true, y_proba, classes, sample_weight))
    width, total, own = _width(groups, bandwidth), groups.total, float(groups.square.sum())
    pairs = number = 0.0
    for part in _parts(groups):
        pairs += _quadratic(part, kernel, width) - float(part.square.sum())
        number += part.total * (part.total - 1)
    if number <= 0:
        return float("nan") if debiased else own / total**2
    unbiased = pairs / number
    return unbiased if debiased else (total - 1) / total * unbiased + own / total**2


def kernel_calibration_floor(y_proba: Probabilities, *, sample_weight: Weights = None) -> float:
    r"""The squared kernel calibration error that a calibrated forecaster has in expectation, from noise alone.

    .. math:: \frac1{n^2} \sum_i \Bigl(1 - \sum_j p_{ij}^2\Bigr)

    Exact whatever the kernel, as k(p, p) = 1; that of the debiased value is 0.

    Parameters
    ----------
    y_proba, sample_weight
        As in :func:`brier_score`.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.kernel_calibration_floor([[0.2, 0.3, 0.5]] * 100)
    0.0062
    """
    proba, _ = class_probabilities(y_proba)
    weights = sample_weights(sample_weight, len(proba))
    left = 2 * proba * (1 - proba) if proba.ndim == 1 else 1 - np.square(proba).sum(axis=1)
    w = np.ones(len(left)) if weights is None else weights
    return float(np.dot(w, left) / w.sum() ** 2)


def kernel_calibration_test(
    y_true: Labels,
    y_proba: Probabilities,
    *,
    kernel: Kernel = "laplacian",
    bandwidth: float | None = None,
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> TestResult:
    r"""Test whether whole probability vectors are calibrated, by :func:`kernel_calibration_error`.

    The statistic is n times the error over its expectation under calibration, so about 1. Given the vectors, labels
    that come with their probabilities make it a quadratic form of nearly normal sums, whose law
    :math:`\sum_m \lambda_m \chi^2_1` the vectors alone tell: with features :math:`\varphi` of the kernel the
    :math:`\lambda_m` are the eigenvalues of

    .. math:: \frac1n \sum_i \varphi(p_i) \varphi(p_i)^\top \otimes (\operatorname{diag} p_i - p_i p_i^\top)

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As in :func:`brier_score`; up to 128 classes.
    kernel, bandwidth
        As in :func:`kernel_calibration_error`.

    Notes
    -----
    The kernel is seen through up to 96 of the vectors (Nyström), fewer with more than 5 classes, which is again a
    kernel, and exact where there are no more different ones. Time and memory are linear in rows; more than 4 096
    different vectors tell the null law by as many of them.

    Differs from the paper in: the null law by its eigenvalues, there distribution-free bounds, a bootstrap of pairs,
    and a normal law for the mean of consecutive pairs.

    Examples
    --------
    >>> from calibrant import metrics
    >>> metrics.kernel_calibration_test([2, 1, 0, 2], [[0.2, 0.3, 0.5]] * 2 + [[0.5, 0.2, 0.3]] * 2)
    TestResult(statistic=0.2267, pvalue=0.916, name='kernel calibration')
    """
    one_of(kernel, "kernel", KERNELS)
    forecasts = class_forecasts(y_true, y_proba, classes, sample_weight)
    if forecasts.n_classes > _MOST_CLASSES:
        raise ValueError(
            f"the test is for up to {_MOST_CLASSES} classes; got {forecasts.n_classes}. Compare "
            "kernel_calibration_error with its floor, or take classes together."
        )
    groups = vector_groups(forecasts)
    number = int(np.clip(_DIMENSIONS // forecasts.n_classes, _FEWEST, _MOST))
    features = LandmarkFeatures.of(groups.p[landmarks(groups, number)], kernel, _width(groups, bandwidth))
    sums = sum(features(part.p).T @ part.residual for part in _blocks(groups))
    eigenvalues: Array = np.asarray(np.linalg.eigvalsh(_covariance(groups, features)), dtype=np.float64)
    expected = float(eigenvalues.sum())
    if not expected > 1e-12:  # no outcome is uncertain
        return TestResult(float("nan"), float("nan"), "kernel calibration")
    statistic = float(np.square(sums).sum()) / groups.total
    return TestResult(statistic / expected, quadratic_form_sf(statistic, eigenvalues), "kernel calibration")


def _width(groups: VectorGroups, bandwidth: float | None) -> float:
    if bandwidth is None:
        return groups.spread or 1.0
    if not 0 < bandwidth < np.inf:
        raise ValueError(f"`bandwidth` must be positive; got {bandwidth!r}.")
    return float(bandwidth)


def _parts(groups: VectorGroups) -> list[VectorGroups]:
    """All vectors, or random parts of them whose pairs are not too many."""
    m = len(groups)
    if m * m <= MOST_PAIRS:
        return [groups]
    number = -(-m // max(64, MOST_PAIRS // m))
    order = np.random.default_rng(0).permutation(m)
    return [groups[part] for part in np.array_split(order, number)]


def _blocks(groups: VectorGroups) -> list[VectorGroups]:
    return [groups[rows] for rows in row_blocks(len(groups), _MOST, 2**20)]


def _quadratic(groups: VectorGroups, kernel: Kernel, width: float) -> float:
    """Sum over all pairs of rows."""
    found = 0.0
    for rows in row_blocks(len(groups), len(groups), 2**20):
        near = kernel_values(groups.p[rows], groups.p, kernel, width) @ groups.residual
        found += float(np.vdot(groups.residual[rows], near))
    return found


def _covariance(groups: VectorGroups, features: LandmarkFeatures) -> Array:
    """Covariance of the sums of features times residuals, a row's worth, features and classes flattened."""
    some = groups
    if len(groups) > _NULL_ROWS:
        some = groups[np.linspace(0, len(groups) - 1, _NULL_ROWS).round().astype(np.intp)]
    size, k = features.factor.shape[1], groups.p.shape[1]
    whole = np.zeros((k, size, k, size))
    for part in _blocks(some):
        phi = features(part.p)
        for a in range(k):
            for b in range(a, k):
                joint = part.mass * part.p[:, a] * ((a == b) - part.p[:, b])
                whole[a, :, b] += (phi * joint[:, None]).T @ phi
    for a in range(k):
        for b in range(a):
            whole[a, :, b] = whole[b, :, a].T
    return whole.reshape(k * size, k * size) / some.total
