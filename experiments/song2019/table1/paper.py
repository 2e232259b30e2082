"""Song et al. (2019), table 1, one random split: base, isotonic regression, the best of four GP-Betas.

NLL and MSE are means over the test rows; the pinball loss is summed over them and averaged over 19 levels. Under
Gaussian process regression four entries of single GP-Betas (MSE of forest fires and concrete with 8 points, pinball of
concrete with 16 and 64) are not legible in our copy, and the best is that of the others.
"""

from __future__ import annotations

from typing import NamedTuple

MEASURES = ("NLL", "MSE", "pinball")
SETS = ("diabetes", "boston_housing", "airfoil_self_noise", "forest_fires", "concrete", "appliances_energy")
BASES = {
    "OLS": "least squares", "ridge": "Bayesian ridge", "NN": "dropout net", "GPR": "Gaussian process regression",
}  # fmt: skip


class Printed(NamedTuple):
    """What one measure was before, after isotonic regression, and after the best GP-Beta."""

    base: float
    isotonic: float
    gp_beta: float


_NUMBERS = {
    "OLS": [
        (5.37, 5.78, 5.34, 2664.69, 2664.86, 2590.12, 1720.24, 1720.84, 1684.4),
        (3.04, 3.20, 2.83, 25.28, 25.31, 20.75, 178.34, 176.65, 155.17),
        (2.99, 3.14, 2.92, 23.00, 22.98, 21.28, 524.63, 523.99, 501.0),
        (1.94, 2.22, 1.81, 2.56, 2.57, 2.45, 59.94, 59.28, 60.25),
        (3.76, 4.27, 3.71, 108.77, 108.55, 105.24, 788.66, 789.96, 767.79),
        (5.94, 5.37, 5.44, 8502.15, 8502.19, 8528.08, 112557.73, 98345.03, 100708.98),
    ],
    "ridge": [
        (5.33, 5.83, 5.28, 2398.89, 2404.58, 2333.93, 1609.63, 1620.15, 1596.14),
        (2.94, 3.06, 2.73, 20.65, 20.53, 15.45, 169.16, 164.01, 142.45),
        (2.96, 3.15, 2.89, 21.65, 21.63, 19.44, 513.84, 512.89, 482.61),
        (1.83, 2.31, 1.80, 2.22, 2.22, 2.57, 55.90, 53.22, 57.74),
        (3.76, 4.01, 3.73, 107.80, 107.82, 107.78, 791.3, 791.23, 779.74),
        (5.96, 5.40, 5.41, 8750.67, 8750.46, 8771.09, 113298.92, 98739.99, 98973.39),
    ],
    "NN": [
        (7.30, 6.08, 5.42, 3584.02, 3550.86, 3517.75, 2303.88, 2004.76, 1966.0),
        (2.78, 2.86, 2.72, 15.85, 15.89, 14.51, 145.90, 144.40, 138.32),
        (5.96, 5.04, 3.67, 1031.88, 1367.93, 61.53, 4044.07, 3867.07, 945.84),
        (7.49, 16.71, 1.58, 2.36, 2.35, 2.30, 68.86, 57.64, 56.14),
        (3.29, 3.45, 3.16, 53.59, 41.38, 42.57, 529.13, 461.93, 464.56),
        (18.00, 7.10, 5.22, 9833.01, 9840.09, 9890.18, 110156.3, 98102.22, 98574.75),
    ],
    "GPR": [
        (5.43, 5.74, 5.43, 3022.28, 3022.22, 3017.1, 1820.38, 1822.93, 1818.42),
        (2.59, 2.77, 2.43, 9.86, 9.85, 8.51, 116.33, 113.23, 104.47),
        (3.13, 3.33, 3.12, 30.13, 30.08, 29.54, 407.47, 407.28, 403.90),
        (1.84, -0.41, 1.63, 2.27, 2.27, 2.30, 56.47, 122.1, 54.51),
        (3.08, 3.31, 3.08, 29.91, 29.91, 29.91, 394.32, 399.14, 395.83),
    ],
}
PAPER: dict[str, dict[str, dict[str, Printed]]] = {
    base: {
        name: {measure: Printed(*row[3 * i : 3 * i + 3]) for i, measure in enumerate(MEASURES)}
        for name, row in zip(SETS, rows, strict=False)
    }
    for base, rows in _NUMBERS.items()
}
PAIRS = [(name, base) for base, sets in PAPER.items() for name in sets]
