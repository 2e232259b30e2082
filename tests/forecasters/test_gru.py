import copy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from calibrant import DropoutGRU, Ensemble, Normal, QuantileCalibrator, load, metrics, save

torch = pytest.importorskip("torch")

from calibrant.forecasters.likelihood import drawn, mean_losses, variance  # noqa: E402
from calibrant.forecasters.mlp import start_mlp  # noqa: E402
from calibrant.forecasters.passes import Passes  # noqa: E402
from calibrant.forecasters.recurrent import draw_masks, gru_forward, gru_shapes  # noqa: E402

SMALL = {"window": 14, "hidden": 12, "max_epochs": 25, "batch_size": 16, "learning_rate": 0.01, "n_passes": 60}


def net(features=3, hidden=4, layers=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return start_mlp(gru_shapes(features, hidden, layers), generator), generator


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def one_pass(parameters, x, masks):
    """Gal & Ghahramani's recurrence as written, one sequence (steps, features), one step, one layer at a time."""
    p = {name: tensor[0].double().numpy() for name, tensor in parameters.items()}
    layers, hidden = (len(masks) - 1) // 2, p["weight_head"].shape[0]
    states, outputs = [np.zeros(hidden) for _ in range(layers)], []
    for value in x:
        for layer in range(layers):
            dropped, state = value * masks[2 * layer], states[layer] * masks[2 * layer + 1]
            W, b = np.split(p[f"weight_input{layer}"], 3, axis=1), np.split(p[f"bias_input{layer}"][0], 3)
            U, c = np.split(p[f"weight_state{layer}"], 3, axis=1), np.split(p[f"bias_state{layer}"][0], 3)
            r = sigmoid(dropped @ W[0] + b[0] + state @ U[0] + c[0])
            u = sigmoid(dropped @ W[1] + b[1] + state @ U[1] + c[1])
            n = np.tanh(dropped @ W[2] + b[2] + r * (state @ U[2] + c[2]))
            states[layer] = value = (1 - u) * n + u * states[layer]
        outputs.append((value * masks[-1]) @ p["weight_head"] + p["bias_head"][0])
    return np.array(outputs)


def weekly(rng, series=3, steps=168, noise=0.1):
    level = 20.0 * 3.0 ** np.arange(series)[:, None]
    truth = level * (1 + 0.5 * np.sin(2 * np.pi * np.arange(steps) / 7))
    return truth * (1 + noise * rng.standard_normal((series, steps)))


@pytest.fixture(scope="module")
def fitted():
    sales = weekly(np.random.default_rng(1))
    return DropoutGRU(**SMALL, dropout=0.1).fit(sales[:, :140]), sales


def test_vectorised_passes_are_a_loop_over_passes_rows_and_steps_with_the_same_masks(rng):
    parameters, generator = net()
    x = rng.normal(size=(5, 6, 3)).astype(np.float32)
    read = Passes.of(parameters, 4, 0.5, generator, 1)
    outputs, _ = read._run(read._spread(x), None)
    outputs = outputs[0].reshape(4, 5, 6, 2).numpy()
    for s in range(4):
        masks = [mask[0, s].double().numpy() for mask in read.masks]
        for row in range(5):
            assert_allclose(outputs[s, row], one_pass(parameters, x[row], masks), atol=2e-6)


def test_without_dropout_it_is_the_gru_of_torch(rng):
    parameters, _ = net()
    theirs = torch.nn.GRU(3, 4, 2, batch_first=True)
    with torch.no_grad():
        for layer in range(2):
            for part, name in (("input", "ih"), ("state", "hh")):
                getattr(theirs, f"weight_{name}_l{layer}").copy_(parameters[f"weight_{part}{layer}"][0].T)
                getattr(theirs, f"bias_{name}_l{layer}").copy_(parameters[f"bias_{part}{layer}"][0, 0])
        x = torch.as_tensor(rng.normal(size=(5, 6, 3)), dtype=torch.float32)
        expected = theirs(x)[0] @ parameters["weight_head"][0] + parameters["bias_head"][0]
        outputs, states = gru_forward(parameters, x[None])
        assert_allclose(outputs[0], expected, atol=1e-6)
        first, between = gru_forward(parameters, x[None, :, :2])
        second, _ = gru_forward(parameters, x[None, :, 2:], None, between)
    assert_allclose(torch.cat([first, second], dim=2), outputs, atol=1e-6)
    assert len(states) == 2


def test_a_mask_is_the_same_at_all_steps_of_a_pass_and_differs_between_passes():
    parameters, generator = net(features=3, hidden=40)
    masks = draw_masks(parameters, 50, 0.5, generator)
    assert [mask.shape[-1] for mask in masks] == [3, 40, 40, 40, 40]
    states = masks[1][0].numpy()
    assert set(np.unique(states)) == {0.0, 2.0}
    assert len(np.unique(states, axis=0)) == 50
    assert_allclose(states.mean(), 1.0, atol=0.1)
    x = torch.ones(1, 50, 200, 3)
    late = gru_forward(parameters, x, masks)[0][0, :, -3:, 0].numpy()
    assert np.ptp(late, axis=1).max() < 1e-4  # the same input and mask at each step: the state comes to rest
    assert np.ptp(late[:, -1]) > 1e-2


def test_loss_is_that_of_kendall_and_gal_but_for_a_constant(rng):
    outputs, y = rng.normal(size=(1, 4, 5, 2)), rng.normal(size=(1, 4, 5))
    on = (rng.random((1, 4, 5)) < 0.6).astype(float)
    on[..., 0] = 1
    m, s = outputs[..., 0], outputs[..., 1]
    literal = 0.5 * np.exp(-s) * (y - m) ** 2 + 0.5 * s + 0.5 * np.log(2 * np.pi)
    made = mean_losses(*(torch.as_tensor(part) for part in (outputs, y, on)))
    assert_allclose(made, (literal * on).sum(axis=-1) / on.sum(axis=-1))
    assert_allclose(mean_losses(torch.as_tensor(outputs), torch.as_tensor(y)), literal.mean(axis=-1))


def test_draws_have_the_mean_and_variance_of_the_outputs():
    outputs = torch.tensor([2.0, np.log(9.0)]).expand(40_000, 2)
    draws = drawn(outputs, torch.Generator().manual_seed(0)).numpy()
    assert_allclose([draws.mean(), draws.std()], [2.0, 3.0], rtol=0.02)
    assert variance(torch.tensor([0.0, -1e9])) > 0


def test_a_path_sees_its_own_past_as_if_it_had_happened(fitted):
    model, sales = fitted
    past = sales[:1, :140]
    paths = model.paths(past, horizon=2)
    assert paths.shape == (1, 60, 2)
    generator = torch.Generator().manual_seed(model.seed_)
    read = Passes.of({k: torch.as_tensor(v) for k, v in model.parameters_.items()}, 60, 0.1, generator, 1)
    first = torch.randn(60, 1, generator=generator)
    second = torch.randn(60, 1, generator=generator)
    size, shift, scale = np.abs(past).mean(), model.target_.mean, model.target_.scale
    standard = ((past[0] / size) - shift) / scale
    inputs = np.zeros((15, 9))
    for s in range(60):
        values = standard
        for ahead, noise in ((0, first), (1, second)):
            for i, t in enumerate(range(127, 141 + ahead)):
                known = (np.log(size) - model.inputs_.mean[0]) / model.inputs_.scale[0]
                inputs[i] = [*values[t - 4 : t][::-1], 1, 1, 1, 1, known]
            outputs = one_pass(read.parameters, inputs[: 14 + ahead], [m[0, s].double().numpy() for m in read.masks])
            drawn_value = outputs[-1, 0] + np.exp(0.5 * outputs[-1, 1]) * float(noise[s, 0])
            values = np.append(values, drawn_value)
            assert_allclose(paths[0, s, ahead], (drawn_value * scale + shift)[0] * size, rtol=1e-4)


def test_a_seasonal_series_is_learned(fitted):
    model, sales = fitted
    truth = sales[:, -28:].ravel()
    law = model.backtest(sales, steps=28)
    assert isinstance(law, Ensemble) and len(law) == 84
    error = np.mean(np.abs(law.mean() - truth) / truth)
    naive = np.mean(np.abs(np.repeat(sales[:, :140].mean(axis=1), 28) - truth) / truth)
    assert error < 0.5 * naive  # 8 % is what noise leaves
    ahead = model.predict(sales[:, :140], horizon=14)
    assert np.mean(np.abs(ahead - sales[:, 140:154]) / sales[:, 140:154]) < 0.6 * naive
    low, high = law.interval(0.9).T
    assert 0.75 < np.mean((low <= truth) & (truth <= high)) <= 1


def test_calibration_on_the_past_mends_what_is_too_wide(fitted):
    _, sales = fitted
    model = DropoutGRU(**SMALL, dropout=0.5).fit(sales[:, :140])
    cal = QuantileCalibrator().fit(model.backtest(sales[:, :140], steps=70), sales[:, 70:140].ravel())
    truth, raw = sales[:, 140:].ravel(), model.backtest(sales, steps=28)
    before, after = (metrics.calibration_error(truth, law) for law in (raw, cal.transform(raw)))
    assert after < 0.5 * before


def test_missing_values_are_left_out_and_a_covariate_is_used(rng):
    promo = (rng.random((4, 150)) < 0.3).astype(float)
    sales = 10 * (1 + promo) * (1 + 0.05 * rng.standard_normal(promo.shape))
    holes = sales.copy()
    holes[rng.random(sales.shape) < 0.2] = np.nan
    model = DropoutGRU(**SMALL, dropout=0.0, units="log1p").fit(holes[:, :140], promo[:, :140, None])
    law = model.predict_dist(holes[:, :140], promo[..., None], horizon=10)
    assert len(law) == 40 and np.isfinite(law.mean()).all()
    assert_allclose(law.median().reshape(4, 10), 10 * (1 + promo[:, 140:]), rtol=0.25)
    calendar = model.predict(holes[:, :140], promo[0, :, None], horizon=10)
    assert calendar.shape == (4, 10)


def test_series_of_weight_two_count_twice_and_those_of_weight_zero_not_at_all(rng):
    sales = weekly(rng, 3, 60)
    few = {**SMALL, "max_epochs": 2, "validation_fraction": 0.2, "batch_size": 1000}
    one = DropoutGRU(**few).fit(sales[:2])
    same = DropoutGRU(**few).fit(sales, sample_weight=[1.0, 1.0, 0.0])
    assert_array_equal(one.loss_curve_, same.loss_curve_)
    twice = DropoutGRU(**few, dropout=0.0).fit(sales[[0, 0, 1]])
    heavy = DropoutGRU(**few, dropout=0.0).fit(sales[:2], sample_weight=[2, 1])
    assert twice.n_train_ == heavy.n_train_
    for name, array in twice.parameters_.items():
        assert_allclose(heavy.parameters_[name], array, atol=2e-6)


def test_all_of_time_can_be_trained_on_and_one_series_may_come_alone(rng):
    sales = weekly(rng, 1, 40)[0]
    model = DropoutGRU(**{**SMALL, "max_epochs": 2}, validation_fraction=0.0).fit(pd.Series(sales))
    assert model.loss_curve_.shape == (2, 1) and model.n_train_ == 40
    frame = pd.DataFrame(weekly(rng, 2, 10).astype(np.float32))
    assert model.predict_dist(frame, horizon=3).mean().shape == (6,)
    assert np.isfinite(model.paths([5.0, None, 7.0], horizon=2)).all()


def test_the_same_seed_gives_the_same_forecasts_and_leaves_global_generators_alone(rng):
    sales = weekly(rng, 2, 60)
    few = {**SMALL, "max_epochs": 2}
    state = torch.random.get_rng_state()
    one, two = (DropoutGRU(**few, random_state=7).fit(sales).paths(sales, horizon=3) for _ in range(2))
    other = DropoutGRU(**few, random_state=8).fit(sales).paths(sales, horizon=3)
    assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    assert torch.equal(state, torch.random.get_rng_state())


def test_it_is_saved_without_pickle_and_forecasts_the_same(fitted, tmp_path):
    model, sales = fitted
    save(model, tmp_path / "gru.calibrant")
    again = load(tmp_path / "gru.calibrant")
    assert_array_equal(again.paths(sales, horizon=3), model.paths(sales, horizon=3))
    assert again.get_params() == model.get_params()
    model = DropoutGRU(**{**SMALL, "max_epochs": 1}, law="normal").fit(sales.astype(np.float32).tolist())
    assert isinstance(model.predict_dist(sales[0]), Normal)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"window": 0}, "`window` must be a whole number of at least 1; got 0"),
        ({"dropout": 1.0}, "`dropout` must be a number of at least 0 and below 1; got 1.0"),
        ({"law": "beta"}, "`law` must be one of 'samples', 'normal'; got 'beta'"),
        ({"units": "log"}, "`units` must be one of 'mean', 'log1p', 'none'; got 'log'"),
        ({"n_passes": 1}, "`n_passes` must be a whole number of at least 2; got 1"),
    ],
)
def test_wrong_parameters_are_told(wrong, told):
    with pytest.raises(ValueError, match=told):
        DropoutGRU(**wrong).fit(np.ones((2, 30)))


def test_wrong_data_are_told(fitted):
    model, sales = fitted
    with pytest.raises(ValueError, match="`covariates` must be 0 a step, as in fit; got 2"):
        model.predict_dist(sales, np.ones((169, 2)))
    with pytest.raises(ValueError, match="`steps` must be less than the 168 steps of the series; got 168"):
        model.backtest(sales, steps=168)
    with pytest.raises(ValueError, match="`series` must have values before the part of time that is held out"):
        DropoutGRU(**SMALL).fit(np.full((2, 30), np.nan))
    with pytest.raises(ValueError, match="`horizon` must be a whole number of at least 1; got 0"):
        model.predict(sales, horizon=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_covariates_", 3), ("lags", 0), ("units", "log"), ("hidden", 13), ("dropout", 1.5), ("parameters_", {})],
)
def test_a_file_that_does_not_fit_together_is_refused(fitted, tmp_path, name, value):
    model = copy.copy(fitted[0])
    setattr(model, name, value)
    save(model, tmp_path / "forged.calibrant")
    with pytest.raises(ValueError, match="holds no sound calibrator"):
        load(tmp_path / "forged.calibrant")
