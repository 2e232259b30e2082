"""
The segment nobody named
========================

5 % of the rows, where two features meet, have errors twice as large. The average does not show it. The segment is found
on one half of the rows and measured on the other; trees on the features mend it.
"""

import numpy as np
import pandas as pd

from calibrant import BoostedCalibrator, Normal, find_segments, metrics
from calibrant.displays import SegmentDisplay

rng = np.random.default_rng(0)
n = 4000
X = pd.DataFrame({"region": rng.choice(["north", "south", "west"], n), "price": rng.uniform(0, 30, n)})
hidden = ((X["region"] == "north") & (X["price"] > 25.5)).to_numpy()
mean = rng.normal(size=n)
y = mean + rng.normal(scale=np.where(hidden, 2.0, 1.0))
base = Normal(mean, 1.0)
print(f"{hidden.mean():.1%} of the rows; all rows: {metrics.coverage(y, base, coverage=0.9):.1%} in 90 % intervals")
print(find_segments(y, base, X))

# %%
# Before and after, on rows that the calibrator has not seen.

half = n // 2
calibrator = BoostedCalibrator().fit(base[:half], y[:half], X=X[:half])
after = calibrator.transform(base[half:], X=X[half:])
rows = hidden[half:]
print(f"in the segment: {metrics.coverage(y[half:][rows], base[half:][rows], coverage=0.9):.0%} before,",
      f"{metrics.coverage(y[half:][rows], after[rows], coverage=0.9):.0%} after")  # fmt: skip
SegmentDisplay.from_predictions(y[half:], {"before": base[half:], "after": after}, X[half:]).plot()
