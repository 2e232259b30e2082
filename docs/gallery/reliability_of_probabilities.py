"""
Reliability of class probabilities
==================================

Reliability diagrams as in figure 1 of Bella et al. (2010): mean forecast and frequency of the event in ten intervals,
with the band in which a perfect forecaster stays. Naive Bayes is too sure of itself.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from calibrant import BetaCalibrator, CalibratedClassifier, IsotonicCalibrator, metrics
from calibrant.displays import ReliabilityDisplay

X, y = make_classification(3000, n_features=20, n_informative=3, n_redundant=8, flip_y=0.1, random_state=0)
raw = GaussianNB().fit(X[:1500], y[:1500])
models = {"naive Bayes": raw}
for calibrator in (BetaCalibrator(), IsotonicCalibrator()):
    name = type(calibrator).__name__.removesuffix("Calibrator").lower()
    models[name] = CalibratedClassifier(GaussianNB(), calibrator).fit(X[:1500], y[:1500])

fig, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    p = model.predict_proba(X[1500:])
    ReliabilityDisplay.from_predictions(y[1500:], p, name=name).plot(ax=ax)
    print(f"{name}: log loss {metrics.log_loss(y[1500:], p):.3f}, ECE {metrics.ece(y[1500:], p):.3f}")
