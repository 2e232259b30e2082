"""Fits to tensors and exported modules: a billion rows where they are, beside reading them once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from calibrant import Normal, QuantileCalibrator, export_torch
from calibrant.store.shared_maps import LEVELS

from .timing import Measure, Note

PROMISED = {"fit": 25.0, "cdf": 8.0}  # ms, of a billion rows on one H200
UNCHECKED = {"assert_indirect_indexing": False}  # the module's own look-ups are within bounds
_CHECKED = 1_000_000


def lines(device: str = "cpu", rows: float = 1e6) -> Iterator[Measure | Note]:
    """Wall-clock time, best of five; promises are of a billion float32 rows on a GPU."""
    try:
        import torch
    except ImportError:
        yield Note("torch: not installed (pip install 'calibrant[torch]')")
        return
    n = int(rows)
    kept = PROMISED if device != "cpu" and n >= 1e9 else {}
    name = torch.cuda.get_device_name() if device.startswith("cuda") else device
    yield Note(f"{n:.0e} float32 rows on {name}, torch {torch.__version__}: wall-clock, best of 5")
    columns = make_rows(n, device)
    yield from _fit_lines(columns, kept)
    yield from _apply_lines(columns, kept)


def make_rows(n: int, device: str) -> tuple[Any, Any, Any]:
    """Means, standard deviations and outcomes that are biased, wider and skewed."""
    import torch

    generator = torch.Generator(device=device).manual_seed(0)
    mean, std, y = (torch.randn(n, device=device, generator=generator) for _ in range(3))
    std.mul_(0.3).exp_()
    for part in range(0, n, 2**24):
        e = y[part : part + 2**24]
        e.mul_(0.2 * e + 1.5).add_(0.3).mul_(std[part : part + 2**24]).add_(mean[part : part + 2**24])
    return mean, std, y


def _fit_lines(columns: tuple[Any, Any, Any], kept: dict[str, float]) -> Iterator[Measure]:
    from calibrant.engines import tensors

    mean, std, y = columns
    yield Measure("sum of three columns", _ms(lambda: mean.sum() + std.sum() + y.sum(), y), "ms")
    summary = tensors.summarise(QuantileCalibrator(), (mean, std), y)
    seconds = _ms(lambda: tensors.summarise(QuantileCalibrator(), (mean, std), y), y)
    yield Measure("fit: the summary, made on the device", seconds, "ms", kept.get("fit"))
    yield Measure("fit: the map from the summary", _ms(lambda: QuantileCalibrator().fit_summary(summary), y), "ms")
    seconds = _ms(lambda: tensors.fit(QuantileCalibrator(), (mean, std), y), y)
    yield Measure("fit: everything", seconds, "ms", kept.get("fit"))
    apart = _apart(QuantileCalibrator().fit_summary(summary), _fit_to_arrays(mean, std, y))
    yield Measure("  largest distance from the map fitted on the CPU", apart, "in probability", 1e-4)


def _apply_lines(columns: tuple[Any, Any, Any], kept: dict[str, float]) -> Iterator[Measure]:
    import torch

    from calibrant.engines import tensors

    mean, std, y = columns
    calibrator = tensors.fit(QuantileCalibrator(), (mean, std), y)
    module = export_torch(calibrator).to(y.device)
    with torch.no_grad():
        start = time.perf_counter()
        compiled = torch.compile(module.cdf, options=UNCHECKED)
        found = compiled(mean, std, y)[:_CHECKED].cpu().numpy()
        yield Measure("apply: compiling the module", time.perf_counter() - start, "s, once")
        yield Measure("apply: cdf, compiled", _ms(lambda: compiled(mean, std, y), y), "ms", kept.get("cdf"))
        yield Measure("apply: cdf, as it is", _ms(lambda: tensors.apply(calibrator, (mean, std), y=y), y), "ms")
        quantiles = module(mean[:_CHECKED], std[:_CHECKED]).cpu().numpy()
    m, s, at = (column[:_CHECKED].cpu().numpy() for column in columns)
    law = calibrator.transform(Normal(m, s))
    apart = float(np.abs(found - law.cdf(at)).max())
    yield Measure("  largest distance from Python, of a million rows", apart, "in probability", 1e-6)
    exact = law.quantiles(LEVELS)
    apart = np.abs(quantiles - exact)
    yield Measure("  of quantiles, over std", float((apart / s[:, None]).max()), "where float32 has 6e-8 |q|", 1e-6)
    size = np.maximum(s[:, None], np.abs(exact))
    yield Measure("  of quantiles, over the larger of std and |q|", float((apart / size).max()), "", 1e-6)


def _fit_to_arrays(mean: Any, std: Any, y: Any, size: int = 4_000_000) -> QuantileCalibrator:
    calibrator = QuantileCalibrator()
    for start in range(0, len(y), size):
        m, s, v = (column[start : start + size].cpu().numpy() for column in (mean, std, y))
        calibrator.partial_fit(Normal(m, s), v)
    return calibrator


def _apart(one: QuantileCalibrator, two: QuantileCalibrator) -> float:
    at = np.linspace(-10, 10, 20_001)
    law = Normal(np.zeros(len(at)), 1.0)
    return float(np.abs(one.transform(law).cdf(at) - two.transform(law).cdf(at)).max())


def _ms(task: Callable[[], Any], where: Any, repeats: int = 5) -> float:
    """Best time of a task in milliseconds, once all that the device was asked for is done."""
    import torch

    best = float("inf")
    for _ in range(repeats + 1):  # the first is not the best
        start = time.perf_counter()
        task()
        if where.is_cuda:
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best * 1e3
