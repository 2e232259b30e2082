from __future__ import annotations

import numpy as np

from calibrant import Normal
from calibrant.displays import BetaParametersDisplay
from calibrant.regression.gp_beta.calibrator import GPBetaCalibrator


def test_draws_the_posterior_along_the_mean(rng: np.random.Generator) -> None:
    mu = rng.uniform(-2, 2, 120)
    law = Normal(mu, 1.0)
    calibrator = GPBetaCalibrator(hyperparameters="fixed").fit(law, mu + 1 + 2 * rng.standard_normal(120))
    display = BetaParametersDisplay.from_calibrator(calibrator, law, name="GP-Beta").plot()
    posterior, order = calibrator.parameters(law), np.argsort(mu)
    for k in range(3):
        np.testing.assert_allclose(display.lines_[k].get_xydata(), np.column_stack([mu, posterior.mean[:, k]])[order])
        np.testing.assert_allclose(display.dots_[k].get_ydata(), posterior.inducing_mean[:, k])
        low = (posterior.mean - 2 * posterior.std)[order, k]
        assert np.isclose(display.bands_[k].get_paths()[0].vertices[:, 1].min(), low.min())
    assert [line.get_label() for line in display.lines_] == ["a", "b", "c"]
    assert display.ax_.get_title() == "GP-Beta"
