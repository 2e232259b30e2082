import numpy as np

from calibrant import Poisson, QuantileCalibrator

rng = np.random.default_rng(0)
rate = rng.gamma(9.0, 2.0, size=10_000)  # what the model says
counts = rng.poisson(1.3 * rate)  # what comes: 30 % more
calibrator = QuantileCalibrator().fit(Poisson(rate[:5000]), counts[:5000])
calibrated, true = calibrator.transform(Poisson(rate[5000:])), Poisson(1.3 * rate[5000:])
for coverage in (0.8, 0.95):
    for name, law in {"calibrated": calibrated, "true law": true}.items():
        low, high = law.interval(coverage).T
        held = np.mean((low <= counts[5000:]) & (counts[5000:] <= high))
        print(f"{coverage:.0%} {name}: holds {held:.3f}, width {np.mean(high - low + 1):.2f}")
