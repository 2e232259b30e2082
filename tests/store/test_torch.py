"""Modules of torch against Python."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from calibrant import (
    Chain,
    FlowCalibrator,
    GroupedCalibrator,
    Normal,
    QuantileCalibrator,
    ScaleCalibrator,
    StudentT,
    export_torch,
)
from calibrant.store.torch_module import CalibratedNormal

from .exported import CALIBRATORS

LEVELS = [0.001, 0.01, 0.25, 0.5, 0.9, 0.999]
every = pytest.mark.parametrize("name", CALIBRATORS)


def rows(n, seed=0, bias=0.3):
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(0, 2, n), np.exp(rng.normal(0, 0.5, n))
    y = mu + bias * sigma + 2 * sigma * rng.standard_t(4, n)
    return [column.astype(np.float32) for column in (mu, sigma, y)]


def fitted(name, n=500, **how):
    mu, sigma, y = rows(n, 1, **how)
    return CALIBRATORS[name].fit(Normal(mu, sigma), y)


def tensors(*columns, dtype=torch.float32):
    return [torch.tensor(column, dtype=dtype) for column in columns]


@every
def test_like_python(name):
    calibrator = fitted(name)
    mu, sigma, y = rows(5000)
    law = calibrator.transform(Normal(mu, sigma))
    with np.errstate(invalid="ignore"):
        quantiles, cdf = law.quantiles(LEVELS), law.cdf(y)
    for dtype, promised in ((None, 1e-6), (torch.float64, 1e-13)):
        module = export_torch(calibrator, levels=LEVELS, dtype=dtype)
        given = tensors(mu, sigma, y, dtype=dtype or torch.float32)
        found = module(*given[:2])
        assert found.shape == (5000, 6) and found.dtype == module.cdf(*given).dtype == given[0].dtype
        size = np.maximum(sigma[:, None], np.abs(quantiles))
        assert np.nanmax(np.abs(found.numpy() - quantiles) / size) < promised
        np.testing.assert_allclose(module.cdf(*given).numpy(), cdf, rtol=0, atol=promised)
        if "step" in name:
            with pytest.raises(TypeError, match="atoms, not a density"):
                module.log_prob(*given)
        else:
            density = np.exp(module.log_prob(*given).numpy())
            np.testing.assert_allclose(density, law.pdf(y), rtol=20 * promised, atol=promised)


def test_a_large_bias_is_worked_out_in_double():
    calibrator = fitted("quantile, spline", bias=300.0)
    module = export_torch(calibrator)
    mu, sigma, y = rows(5000, bias=300.0)
    found = module.cdf(*tensors(mu, sigma, y))
    assert module.standard.dtype == torch.float64 and found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), calibrator.transform(Normal(mu, sigma)).cdf(y), rtol=0, atol=1e-6)
    assert export_torch(fitted("quantile, spline")).standard.dtype == torch.float32


def test_shapes_and_types():
    module = export_torch(fitted("quantile, spline"), levels=[0.1, 0.9])
    mean, y = torch.linspace(-3, 3, 12).reshape(3, 4), torch.zeros(4)
    whole = module.cdf(mean, torch.tensor(1.5), y)
    assert whole.shape == (3, 4) and module(mean, torch.tensor(1.5)).shape == (3, 4, 2)
    alone = module.cdf(mean[1, 2], torch.tensor(1.5), y[2])
    torch.testing.assert_close(whole[1, 2], alone, rtol=0, atol=1e-7)
    short = module.cdf(mean.bfloat16(), torch.ones(3, 4).bfloat16(), y.bfloat16())
    torch.testing.assert_close(short, module.cdf(mean.bfloat16().float(), torch.ones(3, 4), y), rtol=0, atol=0)
    with pytest.raises(TypeError, match="must be tensors; got float"):
        module.cdf(mean, 1.5, y)


@pytest.mark.parametrize("name", ["spline", "ecdf", "isotonic", "beta"])
def test_far_and_missing(name):
    calibrator = fitted(f"quantile, {name}")
    away = np.geomspace(1e-9, 1e30, 200)
    y = np.concatenate([[-np.inf], -away[::-1], [0.0], away, [np.inf]])
    zero, one, at = tensors(0 * away[0] * np.ones(403), np.ones(403), y, dtype=torch.float64)
    module = export_torch(calibrator, dtype=torch.float64)
    cdf, density = module.cdf(zero, one, at).numpy(), module.log_prob(zero, one, at).numpy()
    law = calibrator.transform(Normal(np.zeros(401), 1.0))
    assert cdf[0] == 0 and cdf[-1] == 1 and np.all(density[[0, -1]] == -np.inf)
    np.testing.assert_allclose(cdf[1:-1], law.cdf(y[1:-1]), rtol=1e-9, atol=1e-250)
    near = np.abs(y) < 30
    np.testing.assert_allclose(density[near], law.logpdf(y[1:-1])[near[1:-1]], rtol=1e-9, atol=1e-9)
    missing = torch.full((1,), np.nan, dtype=torch.float64)
    assert module.cdf(zero[:1], one[:1], missing).isnan() and module.log_prob(zero[:1], one[:1], missing).isnan()


@pytest.mark.parametrize("name", ["ecdf", "step"])
@pytest.mark.parametrize("n", [1, 2, 37])
def test_on_the_knots_themselves(name, n):
    calibrator = QuantileCalibrator(name).fit(Normal(np.zeros(n), 1.0), np.linspace(-3, 4, n))
    knots = calibrator.map_.knots
    y = np.concatenate([knots, np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf), knots + 1e-6, knots - 1e-6])
    found = export_torch(calibrator, dtype=torch.float64).cdf(*tensors(0 * y, 0 * y + 1, y, dtype=torch.float64))
    np.testing.assert_allclose(found.numpy(), calibrator.transform(Normal(0 * y, 1.0)).cdf(y), rtol=0, atol=1e-14)


def test_many_clustered_knots():
    """More than a cell of the grid holds: a binary search instead."""
    y = np.concatenate([np.linspace(0, 1e-4, 50), np.linspace(-3, 3, 200)])
    calibrator = QuantileCalibrator("ecdf").fit(Normal(np.zeros(250), 1.0), y)
    module = export_torch(calibrator, dtype=torch.float64)
    assert module.maps[0].knots.steps is None
    at = np.concatenate([y, np.linspace(-5, 5, 100)])
    found = module.cdf(*tensors(0 * at, 0 * at + 1, at, dtype=torch.float64))
    np.testing.assert_allclose(found.numpy(), calibrator.transform(Normal(0 * at, 1.0)).cdf(at), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["quantile, spline", "quantile, isotonic", "quantile, beta", "chain"])
def test_gradients(name):
    """By differences, in double precision, away from the bends."""
    module = export_torch(fitted(name), levels=[0.1, 0.7], dtype=torch.float64)
    given = [column.requires_grad_() for column in tensors(*rows(20, 3), dtype=torch.float64)]
    assert torch.autograd.gradcheck(module, given[:2])
    assert torch.autograd.gradcheck(module.cdf, given, eps=1e-7, atol=1e-6)
    assert torch.autograd.gradcheck(module.log_prob, given, eps=1e-7, atol=1e-5)
    slope = torch.autograd.grad(module.cdf(*given).sum(), given[2])[0]
    torch.testing.assert_close(slope, module.log_prob(*given).exp())


@pytest.mark.parametrize("name", ["quantile, spline", "chain from steps", "chain to beta"])
def test_state_alone_is_enough(name):
    module, other = export_torch(fitted(name), levels=LEVELS), export_torch(fitted(name, bias=2.0), levels=LEVELS)
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    state = torch.load(io.BytesIO(file.getvalue()), weights_only=True)
    given = tensors(*rows(1000))
    again = CalibratedNormal.from_state(state)
    assert torch.equal(again.cdf(*given), module.cdf(*given)) and torch.equal(again(*given[:2]), module(*given[:2]))
    assert [*again.state_dict()] == [*state] and not list(module.parameters())
    if all(table.shape == state[key].shape for key, table in other.state_dict().items()):
        assert not torch.equal(other.cdf(*given), module.cdf(*given))
        other.load_state_dict(state)
        assert torch.equal(other.cdf(*given), module.cdf(*given))
    with pytest.raises(ValueError, match="`state` must be the state_dict"):
        CalibratedNormal.from_state({"weight": given[0]})


def test_loading_a_state_makes_the_grid_again():
    one, two = (QuantileCalibrator("ecdf").fit(Normal(np.zeros(50), 1.0), s * np.linspace(-3, 4, 50)) for s in (1, 9))
    module, other, given = export_torch(one), export_torch(two), tensors(*rows(1000))
    other.load_state_dict(module.state_dict())
    assert torch.equal(other.cdf(*given), module.cdf(*given))


def test_compiled():
    module = export_torch(fitted("quantile, spline"))
    given = tensors(*rows(1000))
    for function in (module.cdf, module.log_prob):
        compiled = torch.compile(function, backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(*given), function(*given), rtol=0, atol=1e-6)


def test_fitted_to_heavy_tails():
    mu, sigma, y = rows(500)
    calibrator = QuantileCalibrator().fit(StudentT(mu, sigma, 4.0), y)
    found = export_torch(calibrator).cdf(*tensors(mu, sigma, y))
    np.testing.assert_allclose(found.numpy(), calibrator.transform(Normal(mu, sigma)).cdf(y), rtol=0, atol=1e-6)


def test_what_cannot_be_exported(monkeypatch):
    mu, sigma, y = rows(100)
    law = Normal(mu, sigma)
    grouped = GroupedCalibrator(QuantileCalibrator()).fit(law, y, groups=np.arange(100) % 2)
    for calibrator in (grouped, ScaleCalibrator("bins", n_bins=2).fit(law, y), FlowCalibrator().fit(law, y)):
        with pytest.raises(TypeError, match="cannot be exported as it was fitted"):
            export_torch(calibrator)
    inner = export_torch(Chain([QuantileCalibrator("isotonic"), ScaleCalibrator()]).fit(law, y))
    assert inner(*tensors(mu, sigma)).shape == (100, 7)
    with pytest.raises(TypeError, match="of a ProbabilityMap is known but as the last of a chain"):
        inner.cdf(*tensors(mu, sigma, y))
    with pytest.raises(TypeError, match="a UnitTails cannot be exported yet"):
        export_torch(QuantileCalibrator("beta").fit(StudentT(mu, sigma, 4.0), y))
    steep = QuantileCalibrator("isotonic").fit(law, mu + 30 * (y - mu))
    with pytest.raises(ValueError, match="`dtype` must be torch.float64 for this ProbabilityMap"):
        export_torch(steep, dtype=torch.float32)
    with pytest.raises(ValueError, match="`dtype` must be torch.float32, torch.float64 or None; got torch.float16"):
        export_torch(steep, dtype=torch.float16)
    with pytest.raises(ValueError, match="`levels` must be"):
        export_torch(steep, levels=[0.5, 1.0])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"export_torch needs torch, .* pip install 'calibrant\[torch\]'"):
        export_torch(steep)
