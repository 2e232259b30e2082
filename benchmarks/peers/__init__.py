"""Beside every peer: the same arrays, CPU seconds, peak of memory and quality, job by job.

``python -m benchmarks peers [--only NAME]`` runs the jobs, or those whose name begins so, and prints a line for each
entry. Of all jobs, ``benchmarks/results/peers.json`` and ``benchmarks/RESULTS.md`` are made anew.

A **job** is one piece of work on the same arrays, with the same result or a result of the same kind, that calibrant
and at least one peer can do: a map fitted to n rows and applied to n others, a measure of n rows, intervals, a
booster. Jobs are listed in `binary`, `classes`, `class_measures`, `laws`, `conformal`, `scores`, `law_measures` and
`boosting`, with the sizes at which each is run. Everyone is called as its documentation says, with its defaults,
unless the job states a number (bins, levels, folds) that all are given. Arrays lie ready in the form that each wants;
objects are made anew in each run, so that nothing is remembered.

**Measured.** Each entry runs in a process of its own, forked from one that has imported the library, with one thread.
CPU seconds (`time.process_time`) are the best of up to seven runs; after two seconds spent on those that follow the
first none begins, nor after a first one of ten. Compilation, which the first run pays, is not counted. Memory is the
highest resident set during the first run less that before it. An entry that takes more than 60 CPU seconds is stopped
and written as such, as is one that fails or needs more than 8 GiB. The entries of a job run one after another, so that
a busy machine is busy for all.

**Quality.** Of calibrated predictions, a proper loss of held-out rows: log loss, or Brier score where a map may say 0
or 1; NLL, CRPS or pinball loss of distributions; interval score of intervals; size of label sets where a miss costs
all labels. Of measures and scores, which have a right value, the largest error against a literal transcription of the
definition, relative to the value or to 1.

**Ahead** of a peer in a job at a size: CPU seconds no more than the peer's, and quality no worse. A loss is worse if
its mean exceeds the peer's by more than two standard errors of the difference of the same rows, and by more than 1e-4
of the peer's. A measure is worse if its error exceeds both the peer's and 1e-6. A peer that was stopped after 60 s is
behind; one that failed is not compared. **First** in a job at a size: ahead of all peers compared there. A row without
a peer that could be compared is not shared, and not counted. Promised: first in 90 % of the shared rows.
"""

from __future__ import annotations

from .tables import lines

__all__ = ["lines"]
