import numpy as np

from calibrant import ConformalCalibrator, Poisson, QuantileCalibrator

rng = np.random.default_rng(0)
rate = rng.gamma(9.0, 2.0, size=10_000)  # what the model says
counts = rng.poisson(1.3 * rate)  # what comes: 30 % more
models = {"calibrated": (QuantileCalibrator(), Poisson(rate)), "true law": (None, Poisson(1.3 * rate))}
for name, (calibrator, law) in models.items():
    sets = ConformalCalibrator(calibrator, score="density", held_out=0.5).fit(law[:5000], counts[:5000])
    for coverage in (0.8, 0.95):
        low, high = sets.transform(law[5000:]).interval(coverage).T
        held = np.mean((low <= counts[5000:]) & (counts[5000:] <= high))
        print(f"{coverage:.0%} {name}: holds {held:.3f}, width {np.mean(high - low + 1):.2f}")
