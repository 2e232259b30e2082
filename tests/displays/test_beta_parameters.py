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
    latent = calibrator.transform(law).map  # normal ln a, ln b, c
    std = np.sqrt(np.square(latent.root).sum(axis=2))
    low, high = latent.mean - std, latent.mean + std
    low[:, :2], high[:, :2] = np.exp(low[:, :2]), np.exp(high[:, :2])
    for k in range(3):
        np.testing.assert_allclose(display.lines_[k].get_xydata(), np.column_stack([mu, posterior.mean[:, k]])[order])
        np.testing.assert_allclose(display.dots_[k].get_ydata(), posterior.inducing_mean[:, k])
        drawn = display.bands_[k].get_paths()[0].vertices[:, 1]
        assert np.isclose(drawn.min(), low[order, k].min()) and np.isclose(drawn.max(), high[order, k].max())
    assert [line.get_label() for line in display.lines_] == ["a", "b", "c"]
    assert display.ax_.get_title() == "GP-Beta"
