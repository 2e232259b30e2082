"""
Many pixels, in chunks
======================

Two million pixels of predicted depth, too narrow by a factor, in chunks of a quarter of a million that are never
together in memory. Each chunk becomes a summary of fixed size; summaries add up. A billion pixels are four thousand
such chunks, of which machines may take any part.
"""

import time

import numpy as np

from calibrant import Normal, QuantileCalibrator, metrics
from calibrant.displays import CalibrationCurveDisplay


def chunk(seed, rows=250_000):
    rng = np.random.default_rng(seed)
    depth = rng.gamma(3.0, 1.0, rows)
    return Normal(depth, 0.1 * depth), depth * (1 + 0.16 * rng.standard_t(5, rows))


start = time.process_time()
total = None
for seed in range(8):
    forecasts, outcome = chunk(seed)
    summary = QuantileCalibrator().summarise(forecasts, outcome)
    total = summary if total is None else total.merge(summary)
calibrator = QuantileCalibrator().fit_summary(total)
print(f"{calibrator.n_rows_:,} pixels in {time.process_time() - start:.1f} s of CPU, making them included")

# %%
# Before and after, on pixels that nobody has seen: the curves of figure 5 of Kuleshov et al. (2018). With a network
# that sees pictures, and exact depth, it is ``python -m experiments.kuleshov2018.depth``.

forecasts, outcome = chunk(99, 50_000)
calibrated = calibrator.transform(forecasts)
for coverage in (0.5, 0.9, 0.99):
    before, after = (metrics.coverage(outcome, law, coverage=coverage) for law in (forecasts, calibrated))
    print(f"{coverage:.0%} intervals hold {before:.1%} before, {after:.1%} after")
display = CalibrationCurveDisplay.from_predictions(outcome, forecasts, name="before").plot()
CalibrationCurveDisplay.from_predictions(outcome, calibrated, name="after").plot(ax=display.ax_)
