"""
What honest forecasts are worth in a shop
=========================================

A kiosk buys papers at 1.00 and sells them at 4.00; what is left is lost. The best order is a quantile of the demand, so
that a forecaster who is too sure orders wrongly. The data are made.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Normal, QuantileCalibrator
from calibrant.decisions import newsvendor

rng = np.random.default_rng(0)
mean = rng.uniform(40, 120, 2000)
demand = np.maximum(rng.normal(mean, 0.35 * mean), 0.0)
price, cost = 4.0, 1.0

laws = {"as they come": Normal(mean[1000:], 0.1 * mean[1000:])}
calibrator = QuantileCalibrator().fit(Normal(mean[:1000], 0.1 * mean[:1000]), demand[:1000])
laws["calibrated"] = calibrator.transform(laws["as they come"])
laws["all-knowing"] = Normal(mean[1000:], 0.35 * mean[1000:])

earned = {}
for name, law in laws.items():
    order = newsvendor(law, price=price, cost=cost)
    earned[name] = np.mean(price * np.minimum(order, demand[1000:]) - cost * order)
    print(f"{name}: orders {order.mean():.1f} a day, earns {earned[name]:.2f}")

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
ax.barh(list(earned), list(earned.values()))
ax.set(xlabel="earned a day", xlim=(0.9 * min(earned.values()), None))
