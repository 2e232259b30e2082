"""
Three models before and after
=============================

Least squares, Bayesian ridge, and quantile regression by boosting, on patients that neither model nor
calibrator has seen. Calibrated forecasts follow the diagonal, as in figure 3 of Kuleshov et al. (2018).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import train_test_split

from calibrant import CalibratedRegressor, metrics
from calibrant.displays import CalibrationCurveDisplay

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

models = {
    "least squares": CalibratedRegressor(LinearRegression()),
    "Bayesian ridge": CalibratedRegressor(BayesianRidge()),
    "boosted quantiles": CalibratedRegressor(
        GradientBoostingRegressor(loss="quantile", random_state=0), levels=[0.05, 0.25, 0.5, 0.75, 0.95]
    ),
}

# %%
# One panel a model. The grey band holds the whole curve of a perfect forecaster 95 % of the time.

fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X_train, y_train)
    sides = {"before": model.predict_dist(X_test, calibrated=False), "after": model.predict_dist(X_test)}
    for side, law in sides.items():
        CalibrationCurveDisplay.from_predictions(y_test, law, name=side).plot(ax=ax)
    ax.set_title(name)
    print(name, {side: round(metrics.crps(y_test, law), 2) for side, law in sides.items()})
