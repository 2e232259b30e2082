"""Class probabilities in one table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._types import Labels, Weights
from .catalogue import measures_of
from .classes.forecasts import Probabilities, class_forecasts
from .evaluation import ClassEvaluation
from .summary_table import Summary


def class_summary(
    y_true: Labels,
    y_proba: Probabilities | Mapping[str, Probabilities],
    *,
    classes: Labels | None = None,
    sample_weight: Weights = None,
) -> Summary:
    r"""Every measure of class probabilities in one table, for one classifier or several side by side.

    Scores: ``log_loss``, ``brier_score`` (scikit-learn's scale) and ``mse_p``, the chapter's, with its parts:
    ``mse_p = mse_p_calibration - mse_p_discrimination + mse_p_uncertainty``. Pure calibration beside the ``_floor``
    that noise alone makes of it: ``ece``, ``calbin``, ``calloss`` by the segments of the ROC curve's hull and
    ``calloss_scores`` by the chapter's, the distinct scores. Ranking: ``auc``. Decisions for the most probable class:
    ``accuracy``, ``macro_accuracy``, ``f_measure``, and ``proportion_error``, the distance
    :math:`\sum_j |\hat\pi_j - \pi_j|` of predicted and real proportions. Bella et al. (2010), table 2, say which of
    them see which miscalibration.

    Parameters
    ----------
    y_true : array-like (n,)
        Labels of any type.
    y_proba : array-like (n,) or (n, K), or a dict of these by name
        Probabilities, before and after calibration say.
    classes : array-like (K,), optional
        Labels of the columns; as in :func:`brier_score`.
    sample_weight : array-like (n,), optional
        Frequencies: weight 2 is the row twice.

    Returns
    -------
    Summary
        Prints as a table; ``class_summary(...)["auc"]`` is a number, or a dict by classifier; ``to_frame()`` is a
        pandas frame. What could not be computed is NaN, with the reason in ``notes``.

    Examples
    --------
    >>> from calibrant import metrics
    >>> p = np.repeat([0.2, 0.9], 4)
    >>> table = metrics.class_summary([0, 0, 0, 1, 1, 1, 1, 0], {"before": p, "after": np.repeat([0.25, 0.75], 4)})
    >>> table["calloss_scores"], table["auc"]
    ({'before': 0.0125, 'after': 0.0}, {'before': 0.75, 'after': 0.75})

    Differs from the paper in: the parts of MSEᵖ are those of isotonic regression, which need no bins and add up; the
    chapter's own bins are in :func:`brier_decomposition`.
    """
    models = {str(name): p for name, p in y_proba.items()} if isinstance(y_proba, Mapping) else {"": y_proba}
    if not models:
        raise ValueError("`y_proba` must have at least one classifier; the dict is empty.")
    measures = measures_of("classification", "headline", "trial", "summary")
    lines: dict[str, list[float]] = {measure.key: [] for measure in measures}
    notes: dict[str, str] = {}
    for name, given in models.items():
        forecasts = class_forecasts(y_true, given, classes, sample_weight)
        evaluation = ClassEvaluation(forecasts.table(), forecasts.codes, forecasts.classes)
        weights = np.ones(len(forecasts.codes)) if forecasts.weights is None else forecasts.weights
        for measure in measures:
            try:
                lines[measure.key].append(measure.of(evaluation, weights))
            except ValueError as reason:
                lines[measure.key].append(np.nan)
                notes[f"{measure.key} of {name}" if name else measure.key] = str(reason)
    return Summary(tuple(models), {key: tuple(line) for key, line in lines.items()}, notes)
