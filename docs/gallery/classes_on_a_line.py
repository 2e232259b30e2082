"""
Classes: histogram, isotonic fit, reliability
=============================================

Figure 2 of Kuleshov et al. (2018), on data that scikit-learn brings along: scores of a classifier that are no
probabilities, two fits of the share of events, and the reliability after each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibrant import BinningCalibrator, IsotonicCalibrator, PlattCalibrator, metrics
from calibrant.displays import ReliabilityDisplay

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)[:, :4]
order = np.random.default_rng(0).permutation(len(y))
train, learn, test = np.split(order, [150, 360])
svm = LinearSVC().fit(X[train], y[train])
margin = {name: svm.decision_function(X[rows]) for name, rows in (("learn", learn), ("test", test))}

grid = np.linspace(margin["test"].min(), margin["test"].max(), 300)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for calibrator in (BinningCalibrator(), IsotonicCalibrator(), PlattCalibrator()):
    name = type(calibrator).__name__.removesuffix("Calibrator")
    calibrator.set_params(scores_are="margins").fit(margin["learn"], y[learn])
    left.plot(grid, calibrator.transform(grid)[:, 1], label=name)
    p = calibrator.transform(margin["test"])
    ReliabilityDisplay.from_predictions(y[test], p, n_bins=(5, "right"), name=name).plot(ax=right)
    print(f"{name}: log loss {metrics.log_loss(y[test], p):.3f}")
left.set(xlabel="margin of the machine", ylabel="probability")
left.legend()
