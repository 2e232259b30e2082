"""The part of online calibration that works on probabilities of classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import Array, believed
from ...adapters.class_labels import Codes, as_labels, missing_labels
from ...adapters.class_scores import ClassScores
from ..labels import Labels, rows_by_label
from ..rows import labelled_rows
from .class_stream import CLIP, ClassStream

MOST_EACH = 10.0  # rows that one row may stand for, on average; where they are more, each is a step by itself


class ClassSide:
    """Learns from labels, and calibrates probabilities of classes."""

    classes_: Any
    common_: Any
    streams_: dict[Any, Any]
    n_rows_: int

    def _labelled(self, table: ClassScores, y: Any, sample_weight: Any, classes: Any) -> tuple[Any, Codes, Any]:
        """Rows that have a label, class numbers and weights; none where no label is known, which is told."""
        labels = as_labels(y)
        if len(labels) == len(table) and len(labels) and missing_labels(labels).all():
            warnings.warn(f"{len(labels)} of {len(labels)} rows have no label and are left out.", stacklevel=3)
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), None
        known = getattr(self, "classes_", classes)
        table = table if known is None or not hasattr(self, "classes_") else table.in_order_of(known)
        rows, self.classes_, codes, weights = labelled_rows(table, y, sample_weight, known, fewest=1)
        return rows, codes, weights

    def _learn_classes(self, table: ClassScores, codes: Codes, weights: Array | None, keys: Labels | None) -> None:
        log_p = _logs(table.in_order_of(self.classes_))
        if weights is not None:
            weights = believed(weights, MOST_EACH, outcomes=1.0, copies=1.0)
            times = np.ceil(weights).astype(np.intp)
            copies = np.repeat(np.arange(len(codes)), times)
            log_p, codes, weights = log_p[copies], codes[copies], (weights / times)[copies]
            keys = None if keys is None else keys[copies]
        w = np.ones(len(codes)) if weights is None else weights
        if keys is None:
            self.common_.learn(log_p, codes, w, 1.0 / max(1, len(self.streams_)))
            return
        members = rows_by_label(keys)
        streams = {key: self._stream(key) for key in members}
        seen = self.common_.learn(log_p, codes, w, 1.0 / len(self.streams_))
        for key, mine in members.items():
            streams[key].learn(log_p[mine], codes[mine], w[mine], 1.0, seen[mine])

    def _transform_classes(self, table: ClassScores, keys: Labels | None) -> Array:
        """Probabilities (n, K), in the order of the classes."""
        if not getattr(self, "n_rows_", 0):
            return np.exp(_logs(table))
        log_p = _logs(table.in_order_of(self.classes_))
        out = self.common_.transform(log_p)
        inner = out.copy()
        for key, rows in ({} if keys is None else rows_by_label(keys)).items():
            if key in self.streams_:
                out[rows] = self.streams_[key].transform(log_p[rows], inner[rows])
        return np.asarray(out)

    def _stream(self, key: Any) -> Any:
        raise NotImplementedError

    def _check_class_forecasts(self) -> None:
        """Raise ValueError if a stream makes no probabilities."""
        classes = len(self.classes_)
        some = np.log(np.array([np.full(classes, 1 / classes), np.append(np.full(classes - 1, 1e-6), 1.0)]))
        for stream in (self.common_, *self.streams_.values()):
            made = stream.transform(some, np.exp(some) if stream.has_outer else None)
            if stream.classes != classes or not np.isfinite(made).all() or made.min() < 0:
                raise ValueError("its forecasts are no probabilities.")

    def _new_classes(self, half_lives: tuple[float, ...], *, has_outer: bool) -> ClassStream:
        return ClassStream.new(half_lives, len(self.classes_), has_outer=has_outer)


def _logs(table: ClassScores) -> NDArray[np.float64]:
    """Log probabilities that add up to 1."""
    logs = table.log_probabilities(CLIP)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))
