"""Fits to tensors against fits to arrays."""

from __future__ import annotations

import sys
from contextlib import nullcontext

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from sklearn.base import clone

from calibrant import Chain, GroupedCalibrator, Normal, QuantileCalibrator, ResidualCalibrator, ScaleCalibrator
from calibrant.engines import tensor_counts, tensor_groups, tensor_kernel, tensors
from calibrant.engines.tensor_rows import read_tensors

CALIBRATORS = [
    QuantileCalibrator(),
    QuantileCalibrator("ecdf"),
    QuantileCalibrator("step", ranks="T+1"),
    QuantileCalibrator("beta"),
    ScaleCalibrator(),
    ScaleCalibrator("coverage", coverage=0.8),
    ResidualCalibrator(),
]
AT = np.linspace(-8, 8, 1601) + 1e-4


def rows(n, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    mean, noise, skew = torch.randn(3, n, generator=generator, dtype=torch.float64)
    std = torch.exp(0.3 * noise)
    return [column.to(dtype) for column in (mean, std, mean + std * (0.3 + 1.5 * skew + 0.2 * skew**2))]


def fit_to_arrays(calibrator, mean, std, y, weights=None, *, by_summary=False):
    law = Normal(*(column.double().numpy() for column in (mean, std)))
    given = {"sample_weight": None if weights is None else weights.numpy()}
    if by_summary:
        return clone(calibrator).fit_summary(calibrator.summarise(law, y.double().numpy(), **given))
    return clone(calibrator).fit(law, y.double().numpy(), **given)


def apart(one, two):
    """Largest distance between forecasts, in probability."""
    law = Normal(np.zeros(len(AT)), 1.0)
    return np.abs(one.transform(law).cdf(AT) - two.transform(law).cdf(AT)).max()


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_few_rows_are_taken_as_they_are(calibrator):
    mean, std, y = rows(3000)
    before = calibrator.get_params()
    weights = torch.arange(3000) % 4
    for how in (None, weights):
        found = tensors.fit(calibrator, (mean, std), y, sample_weight=how)
        exact = fit_to_arrays(calibrator, mean, std, y, how)
        assert apart(found, exact) < 1e-9 and found.n_rows_ == exact.n_rows_
    assert calibrator.get_params() == before and not hasattr(calibrator, "n_rows_")


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=repr)
def test_many_rows_by_cells(calibrator):
    mean, std, y = rows(150_000)
    y[::10] = mean[::10]  # and some of them at one place
    near = 2e-4 if getattr(calibrator, "map", "") in ("ecdf", "step") else 1e-5
    weights = torch.rand(150_000, generator=torch.Generator().manual_seed(1)).round(decimals=1)
    for how in (None, weights):
        found = tensors.fit(calibrator, (mean, std), y, sample_weight=how)
        exact = fit_to_arrays(calibrator, mean, std, y, how, by_summary=True)
        assert apart(found, exact) < near and found.n_rows_ == found.summary_.n_rows == exact.n_rows_


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_types(dtype):
    mean, std, y = rows(100_000, dtype=dtype)
    found = tensors.fit(QuantileCalibrator(), (mean, std), y)
    assert apart(found, fit_to_arrays(QuantileCalibrator(), mean, std, y)) < 1e-5


def test_of_very_many_rows_some_tell_how_cells_are_filled(monkeypatch):
    """Counts of cells are those of all rows; a skew of every seventh row alone must not show."""
    monkeypatch.setattr(tensor_counts, "MANY", 2**18)
    monkeypatch.setattr(tensor_counts, "TOLD", 2**17)
    monkeypatch.setattr(tensor_counts, "CHUNK", 2**17)
    mean, std, y = rows(7 * 2**17)
    y[::7] += 0.5 * std[::7]
    given = read_tensors((mean, std), y)
    some, reach = tensor_counts.weighed_scores(given), float(tensor_counts._farthest(given.part(slice(None, None, 7))))
    z = ((y - mean) / std).double().numpy()
    for edge in np.sinh(np.linspace(-reach, reach, 65)):
        assert abs(some.mass[some.scores < edge].sum() - np.count_nonzero(z < edge)) <= 4  # rounding at the edge
    assert some.rows == len(y) and abs(some.mass.sum() - len(y)) < 1e-3
    found = tensors.fit(QuantileCalibrator(), (mean, std), y)
    assert apart(found, fit_to_arrays(QuantileCalibrator(), mean, std, y)) < 5e-4
    few = tensors.fit(QuantileCalibrator(), (mean[::7], std[::7]), y[::7])
    assert apart(few, found) > 0.03


def test_cells_that_no_row_of_the_sample_is_in(monkeypatch):
    monkeypatch.setattr(tensor_counts, "MANY", 2**16)
    monkeypatch.setattr(tensor_counts, "TOLD", 2**16)
    mean, std, y = rows(2**17)
    y[1::2] = mean[1::2] + 50 * std[1::2]
    scores, mass, count = tensor_counts.weighed_scores(read_tensors((mean, std), y))
    far = scores > 40
    assert mass[far].sum() == 2**16 and count == 2**17 and abs(scores[far] / 50 - 1).max() < 0.02


@pytest.mark.parametrize("odd", [torch.nan, 1e6])
def test_of_very_many_rows_some_are_missing_or_farther_than_those_that_were_asked(odd, monkeypatch):
    monkeypatch.setattr(tensor_counts, "MANY", 2**18)
    monkeypatch.setattr(tensor_counts, "TOLD", 2**17)
    mean, std, y = rows(2**19)
    y[1] = odd
    with pytest.warns(UserWarning, match="1 of 524288") if odd != odd else nullcontext():
        found = tensors.fit(QuantileCalibrator(), (mean, std), y)
    assert found.n_rows_ == 2**19 - int(odd != odd)
    kept = y.isfinite()
    assert apart(found, fit_to_arrays(QuantileCalibrator(), mean[kept], std[kept], y[kept])) < 5e-4


def test_summaries_add_up():
    mean, std, y = rows(200_000)
    parts = [tensors.summarise(QuantileCalibrator(), (mean[i::2], std[i::2]), y[i::2]) for i in range(2)]
    both = QuantileCalibrator().fit_summary(parts[0] + parts[1])
    assert both.n_rows_ == 200_000 and apart(both, fit_to_arrays(QuantileCalibrator(), mean, std, y)) < 1e-6


@pytest.mark.parametrize("n", [3000, 100_000])
def test_rows_that_are_not_finite(n):
    mean, std, y = rows(n)
    kept = torch.ones(n, dtype=torch.bool)
    for place, column in enumerate((mean, std, y)):
        for number, value in enumerate((torch.nan, torch.inf)):
            column[2 * place + number], kept[2 * place + number] = value, False
    with pytest.warns(UserWarning, match=f"6 of {n} rows are not finite and are left out"):
        found = tensors.fit(QuantileCalibrator(), (mean, std), y)
    exact = fit_to_arrays(QuantileCalibrator(), mean[kept], std[kept], y[kept])
    assert found.n_rows_ == n - 6 and apart(found, exact) < 1e-6
    with pytest.warns(UserWarning, match=f"5 of {n - 2} rows"):
        tensors.fit(QuantileCalibrator(), (mean, std), y, sample_weight=(torch.arange(n) % (n - 1) > 0).int())
    with pytest.raises(ValueError, match="all finite, in at least one row; it has none"):
        tensors.fit(QuantileCalibrator(), (mean, std), torch.full((n,), torch.nan))
    assert tensors.apply(found, (mean, std), y=y).isnan()[[0, 2, 4]].all()


def test_shapes():
    mean, std, y = (column.reshape(30, 100) for column in rows(3000))
    found = tensors.fit(QuantileCalibrator(), torch.distributions.Normal(mean, std), y)
    flat = tensors.fit(QuantileCalibrator(), (mean.ravel(), std.ravel()), y.ravel())
    assert apart(found, flat) == 0 and tensors.apply(found, (mean, std)).shape == (30, 100, 7)
    one = tensors.fit(QuantileCalibrator(), (mean.T, torch.tensor(2.0)), y.T)
    assert apart(one, fit_to_arrays(QuantileCalibrator(), mean.ravel(), 2 + 0 * std.ravel(), y.ravel())) < 1e-9
    wrapped = torch.distributions.Independent(torch.distributions.Normal(mean, std), 1)
    assert apart(tensors.fit(QuantileCalibrator(), wrapped, y), found) == 0


def test_apply(monkeypatch):
    monkeypatch.setattr(tensors, "BLOCK", 999)
    mean, std, y = rows(3000)
    calibrator = tensors.fit(QuantileCalibrator(), (mean, std), y)
    law = calibrator.transform(Normal(mean.numpy(), std.numpy()))
    quantiles = tensors.apply(calibrator, (mean, std), levels=[0.1, 0.5])
    np.testing.assert_allclose(quantiles.numpy(), law.quantiles([0.1, 0.5]), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tensors.apply(calibrator, (mean, std), y=y).numpy(), law.cdf(y.numpy()), atol=1e-6)
    with pytest.raises(ValueError, match="give one of them"):
        tensors.apply(calibrator, (mean, std), levels=[0.5], y=y)


@pytest.mark.parametrize("own", [QuantileCalibrator(), ScaleCalibrator(), ResidualCalibrator()], ids=repr)
def test_groups(own, monkeypatch):
    for module in (tensors, tensor_groups):
        monkeypatch.setattr(module, "BLOCK", 4999)
    mean, std, y = rows(20_000)
    group = torch.arange(20_000) % 5 - 2
    group[-2:] = 9  # too few for a map of their own
    y = y + (group == 1) * 2 * std
    weights = torch.arange(20_000) % 3
    calibrator = GroupedCalibrator(own)
    found = tensors.fit(calibrator, (mean, std), y, groups=group, sample_weight=weights)
    law = Normal(mean.double().numpy(), std.double().numpy())
    given = {"groups": group.numpy(), "sample_weight": weights.numpy()}
    exact = clone(calibrator).fit_summary(calibrator.summarise(law, y.double().numpy(), **given))
    assert [*found.calibrators_] == [-2, -1, 0, 1, 2] and found.n_rows_ == exact.n_rows_
    assert apart(found.common_, exact.common_) < 1e-5
    assert max(apart(part, exact.calibrators_[label]) for label, part in found.calibrators_.items()) < 1e-4
    group[3] = 77  # not seen before
    law = found.transform(law, groups=group.numpy())
    cdf = tensors.apply(found, (mean, std), y=y, groups=group)
    np.testing.assert_allclose(cdf.numpy(), law.cdf(y.double().numpy()), rtol=0, atol=1e-6)
    quantiles = tensors.apply(found, (mean, std), levels=[0.3], groups=group)
    np.testing.assert_allclose(quantiles.numpy(), law.quantiles([0.3]), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="`groups` must be given"):
        tensors.apply(found, (mean, std))
    with pytest.raises(ValueError, match="`groups` are for a GroupedCalibrator; got a QuantileCalibrator"):
        tensors.fit(QuantileCalibrator(), (mean, std), y, groups=group)
    with pytest.raises(TypeError, match="`groups` must be whole numbers, one a row; got torch.float32"):
        tensors.fit(calibrator, (mean, std), y, groups=mean)
    with pytest.raises(TypeError, match="cannot learn from tensors"):
        tensors.fit(GroupedCalibrator(QuantileCalibrator("step")), (mean, std), y, groups=group)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_a_gpu(monkeypatch):
    monkeypatch.setattr(tensor_counts, "MANY", 2**18)
    for n in (3000, 100_000, 2**21):
        mean, std, y = rows(n)
        there = [column.cuda() for column in (mean, std, y)]
        found = tensors.fit(QuantileCalibrator(), there[:2], there[2])
        assert apart(found, tensors.fit(QuantileCalibrator(), (mean, std), y)) < 1e-5
        cdf = tensors.apply(found, there[:2], y=there[2])
        assert cdf.is_cuda and (cdf.cpu() - tensors.apply(found, (mean, std), y=y)).abs().max() < 1e-6


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_the_kernel_counts_as_others_do(monkeypatch):
    mean, std, y = (column.float().cuda() for column in rows(2**20 + 3))
    y[:5] = torch.tensor([torch.nan, torch.inf, 1e30, -1e30, 3.0])
    cells = tensor_counts.Cells(4.0, tensor_kernel.HALF)
    whole = read_tensors((mean, std), y)
    found = tensor_kernel.counted(whole, cells.reach)
    cell, _, weights = tensor_counts.cells_of(whole, cells)
    assert torch.equal(found.double(), torch.zeros(2 * cells.half).double().cuda().index_add_(0, cell, weights))
    monkeypatch.setattr(tensor_kernel, "_MOST", 2**12)  # rows at a time, and the last ones
    assert torch.equal(tensor_kernel.counted(whole, cells.reach), found)
    for part in (whole.part(slice(1, None)), whole.part(slice(None, None, 2)), read_tensors((mean, std), y.double())):
        assert tensor_kernel.counted(part, cells.reach) is None  # not aligned, not one after another, not single
    assert tensor_kernel.counted(read_tensors((mean.cpu(), std.cpu()), y.cpu()), cells.reach) is None


def test_a_kernel_that_cannot_be_compiled_is_done_without(monkeypatch):
    def refused(source, name):
        raise OSError("CUDA_HOME environment variable is not set.")

    monkeypatch.setattr(torch.cuda, "_compile_kernel", refused, raising=False)
    assert tensor_kernel._kernel.__wrapped__(0) is None
    monkeypatch.setattr(torch.cuda, "_compile_kernel", None)
    assert tensor_kernel._kernel.__wrapped__(0) is None


def test_what_is_refused(monkeypatch):
    mean, std, y = rows(100)
    default = QuantileCalibrator()
    for calibrator in (
        ScaleCalibrator("bins"),
        QuantileCalibrator(atoms="random"),
        ResidualCalibrator(feature="ratio"),
        Chain([default]),
    ):
        with pytest.raises(TypeError, match="cannot learn from tensors: only those that standardised outcomes"):
            tensors.fit(calibrator, (mean, std), y)
    wrong = std.clone()
    wrong[[17, 20]] = torch.tensor([0.0, -1.0])
    fitted, told = tensors.fit(default, (mean, std), y), r"`std` must be positive; 2 of 100 .*, first std\[17\] = 0.0"
    for bad in (wrong, torch.where(torch.arange(100) == 3, torch.nan, wrong)):
        with pytest.raises(ValueError, match=told):
            tensors.fit(default, (mean, bad), y)
        with pytest.raises(ValueError, match=told):
            tensors.apply(fitted, (mean, bad))
    with pytest.raises(ValueError, match="`sample_weight` must be non-negative; 1 of 100"):
        tensors.fit(default, (mean, std), y, sample_weight=torch.where(torch.arange(100) == 3, -1.0, 1.0))
    with pytest.raises(ValueError, match="`sample_weight` must not be all zero"):
        tensors.fit(default, (mean, std), y, sample_weight=torch.zeros(100))
    with pytest.raises(ValueError, match=r"`y` must have the shape of the others, \(100,\); got \(99,\)"):
        tensors.fit(default, (mean, std), y[:99])
    with pytest.raises(ValueError, match="`y` must be given"):
        tensors.fit(default, (mean, std), None)
    with pytest.raises(ValueError, match="`y` must be on the device of the others, cpu; it is on meta"):
        tensors.fit(default, (mean, std), y.to("meta"))
    with pytest.raises(ValueError, match="at least one row; it is empty"):
        tensors.fit(default, (mean[:0], std[:0]), y[:0])
    with pytest.raises(TypeError, match="`y` must be a tensor; got ndarray"):
        tensors.fit(default, (mean, std), y.numpy())
    with pytest.raises(TypeError, match=r"a pair of tensors \(mean, std\) or a .*Normal; got Laplace"):
        tensors.fit(default, torch.distributions.Laplace(mean, std), y)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"engines.tensors needs torch, .* pip install 'calibrant\[torch\]'"):
        tensors.fit(default, (mean, std), y)
