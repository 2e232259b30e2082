"""python -m experiments.swapped [--draws 400]: joint calibration is seen where classes alone show nothing.

Three classes; in every vector the two lesser probabilities are off by .1, one up and one down, by the parity of the
order of the classes: given the top label's probability, or that of any single class, all is right on average.
"""

from __future__ import annotations

import argparse

import numpy as np

from calibrant import metrics

ORDERS = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1], [1, 0, 2], [2, 1, 0]])  # three even ones, three odd
LEVEL, ROWS = 0.05, 5000
POWER, SIZE = 0.95, 0.06


def forecasts(rng: np.random.Generator, n: int, shift: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,) and vectors (n, 3) that are off by the shift in two classes each."""
    values = (np.sort(rng.dirichlet([6, 6, 6], n), axis=1) + 0.15) / 1.45  # none below .1, in rising order
    chosen = rng.integers(0, 6, n)
    truth = values + np.where(chosen < 3, shift, -shift)[:, None] * np.array([1, -1, 0])
    p, q = (np.take_along_axis(each, ORDERS[chosen], axis=1) for each in (values, truth))
    return (rng.random(n)[:, None] >= np.cumsum(q, axis=1)[:, :-1]).sum(axis=1), p


def rejected(n: int, draws: int, shift: float, **how: str) -> float:
    """Share of draws in which the test rejects at 5 %."""
    found = [
        metrics.kernel_calibration_test(*forecasts(np.random.default_rng([n, k]), n, shift), **how).pvalue
        for k in range(draws)
    ]
    return float(np.mean(np.array(found) < LEVEL))


def main() -> int:
    """Print what the measures see; the exit status says whether both limits are kept."""
    parser = argparse.ArgumentParser(prog="python -m experiments.swapped", description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    draws = parser.parse_args().draws
    for shift in (0.1, 0.0):
        y, p = forecasts(np.random.default_rng(0), 200_000, shift)
        parts = {
            "ECE": metrics.ece(y, p),
            "class-wise": metrics.ece(y, p, kind="class-wise"),
            "Murphy": metrics.brier_decomposition(y, p, bins="width").miscalibration,
            "kernel": metrics.kernel_calibration_error(y, p, debiased=True),
        }
        print(f"shift {shift:g}, 200 000 rows:", ", ".join(f"{name} {value:.2g}" for name, value in parts.items()))
    power, size = (rejected(ROWS, draws, shift) for shift in (0.1, 0.0))
    print(f"{draws} draws of {ROWS} rows: rejected {power:.3f} (limit {POWER}), calibrated {size:.3f} (limit {SIZE})")
    gaussian = [rejected(ROWS, draws, shift, kernel="gaussian") for shift in (0.1, 0.0)]
    print(f"Gaussian kernel: rejected {gaussian[0]:.3f}, calibrated {gaussian[1]:.3f}")
    return int(power < POWER or size > SIZE)


if __name__ == "__main__":
    raise SystemExit(main())
