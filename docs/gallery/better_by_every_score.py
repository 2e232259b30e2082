"""
Better by every score?
======================

A Murphy diagram shows the mean elementary score at every threshold. A forecaster whose curve is nowhere above another's
is at least as good by every score that is proper for the mean; curves that cross say that the choice of the score
decides.
"""

import numpy as np

from calibrant import PointCalibrator
from calibrant.displays import MurphyDisplay

rng = np.random.default_rng(0)
real = rng.gamma(5.0, 20.0, 2000)
predicted = 40 + 0.5 * real + rng.normal(scale=10, size=2000)
calibrated = PointCalibrator().fit(predicted[:1000], real[:1000]).predict(predicted[1000:])
MurphyDisplay.from_predictions(real[1000:], {"before": predicted[1000:], "after": calibrated}).plot()
