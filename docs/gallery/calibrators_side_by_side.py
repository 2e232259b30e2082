"""
Calibrators side by side
========================

Sharpness and calibration are two goals; a method is on the front if none is better in both. Bayesian ridge on the
diabetes data, cross-fitted, and calibrators on rows that they have not seen.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import train_test_split

from calibrant import (
    CalibratedRegressor,
    DensityCalibrator,
    FlowCalibrator,
    QuantileCalibrator,
    ScaleCalibrator,
    StackCalibrator,
)  # fmt: skip
from calibrant.displays import ParetoDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
laws = {}
for calibrator in (ScaleCalibrator(), QuantileCalibrator(), DensityCalibrator(), FlowCalibrator(), StackCalibrator()):
    model = CalibratedRegressor(BayesianRidge(), calibrator).fit(X_train, y_train)
    laws.setdefault("none", model.predict_dist(X_test, calibrated=False))
    laws[type(calibrator).__name__.removesuffix("Calibrator").lower()] = model.predict_dist(X_test)
ParetoDisplay.from_predictions(y_test, laws).plot()
