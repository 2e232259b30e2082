"""python -m experiments.classification.trees: log loss of an unpruned tree and a forest, smoothed and curtailed."""

from __future__ import annotations

import sys

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from calibrant.classification.trees import SmoothedTree

WAYS = ((None, None), ("laplace", None), ("m", None), (None, 50), ("laplace", 50), ("m", 50))


def main() -> int:
    """Print the tables and whether the promises are kept; half of 20 000 rows train."""
    even = table("even classes, 10 % of labels flipped", flip_y=0.1)
    rare = table("5.4 % positive (weights=[0.95], 1 % of labels flipped)", flip_y=0.01, weights=[0.95])
    plain, smooth, both = even[None, None], even["m", None], even["m", 50]
    claims = {
        f"m-estimate takes the log loss from above 5 ({plain:.2f}) to at most .42 ({smooth:.4f})": plain > 5
        and smooth <= 0.42,
        f"curtail=50 with m is within .005 of that or better ({both:.4f})": both <= smooth + 0.005,
        f"rare positives: curtail=50 with m at most .19 ({rare['m', 50]:.4f})": rare["m", 50] <= 0.19,
    }
    for claim, kept in claims.items():
        print(f"{'PASS' if kept else 'FAIL'}  {claim}")
    return int(not all(claims.values()))


def table(title: str, **settings: object) -> dict[tuple[str | None, int | None], float]:
    """Log loss of the tree by smoothing and curtailment; the forest's is printed beside it."""
    X, y = make_classification(20_000, 20, n_informative=8, random_state=3, **settings)
    print(f"\n{title}: log loss{'':10s}tree    forest")
    tree, forest = DecisionTreeClassifier(random_state=0), RandomForestClassifier(50, random_state=0)
    losses = [log_losses(model, X, y) for model in (tree, forest)]
    for way in WAYS:
        print(f"  smoothing={way[0]!s:8s} curtail={way[1]!s:5s}{losses[0][way]:20.4f}{losses[1][way]:10.4f}")
    return losses[0]


def log_losses(model: ClassifierMixin, X: np.ndarray, y: np.ndarray) -> dict[tuple[str | None, int | None], float]:
    half = len(y) // 2
    grown = FrozenEstimator(model.fit(X[:half], y[:half]))
    ways = {way: SmoothedTree(grown, smoothing=way[0], curtail=way[1]).fit(X[:half], y[:half]) for way in WAYS}
    return {way: log_loss(y[half:], smoothed.predict_proba(X[half:])) for way, smoothed in ways.items()}


if __name__ == "__main__":
    sys.exit(main())
