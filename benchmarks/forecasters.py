"""Nets: all passes of MC dropout at once beside a loop of them, and an ensemble trained at once beside one net.

A net drops the same units in all its forecasts, so its masks are drawn by the first one, which stands beside, and
remembered; the loop draws them anew for each pass, as modules do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from calibrant import DeepEnsemble, DropoutMLP

from .timing import Line, Note, cpu_seconds

PASSES = 100


def lines() -> Iterator[Line | Note]:
    """Where torch is installed."""
    try:
        import torch
    except ImportError:
        yield Note("torch: not installed (pip install 'calibrant[torch]')")
        return
    torch.set_num_threads(1)
    yield from _pass_lines()
    yield from _ensemble_lines()


def _data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    return X, X[:, 0] + rng.standard_normal(n)


def _pass_lines() -> Iterator[Line]:
    model = DropoutMLP(n_passes=PASSES, max_epochs=2).fit(*_data(500))
    net = as_module(model)
    for n, promised in ((1, 0.2), (10, 0.2), (100, 0.2), (1000, 1.0), (10_000, 1.0)):
        X, _ = _data(n)
        repeats = 20 if n <= 100 else 5 if n <= 1000 else 2  # short tasks are at the mercy of the cache
        loop = cpu_seconds(lambda x=X: loop_of_passes(net, model.inputs_(x)), repeats)
        seconds = cpu_seconds(lambda x=X: model.predict_dist(x), repeats)
        yield Line(f"MC dropout, {PASSES} passes of {n} rows", seconds, "loop of forwards", loop, promised)
        first = cpu_seconds(lambda x=X: first_forecast(model, x), repeats)
        yield Line("  the first forecast of a net", first, "loop of forwards", loop)


def first_forecast(model: DropoutMLP, x: np.ndarray) -> Any:
    """A forecast whose masks nobody has drawn before: they depend on the seed."""
    model.seed_ += 1
    return model.predict_dist(x)


def loop_of_passes(net: Any, x: np.ndarray) -> np.ndarray:
    """What is usually done: a module in training mode, called again and again; x is standardised."""
    import torch

    rows = torch.as_tensor(x)
    with torch.no_grad():
        return np.asarray(torch.stack([net(rows) for _ in range(PASSES)]).numpy())


def as_module(model: DropoutMLP) -> Any:
    """The same net in torch's modules."""
    from torch import nn, tensor

    layers: list[Any] = []
    for layer in range(len(model.hidden) + 1):
        weight, bias = (model.parameters_[f"{name}{layer}"][0] for name in ("weight", "bias"))
        linear = nn.Linear(*weight.shape)
        linear.weight.data, linear.bias.data = tensor(weight.T.copy()), tensor(bias[0])
        layers += [linear, nn.ReLU(), nn.Dropout(model.dropout)]
    return nn.Sequential(*layers[:-2])


def _ensemble_lines() -> Iterator[Line]:
    X, y = _data(1000)
    given: dict[str, Any] = {"max_epochs": 20, "patience": 20}
    one = cpu_seconds(lambda: DeepEnsemble(1, **given).fit(X, y), 3)
    yield Line("one net, 20 epochs of 1 000 rows", one, "itself", one)
    five = cpu_seconds(lambda: DeepEnsemble(5, **given).fit(X, y), 3)
    yield Line("  five nets at once", five, "one net", one, 2.5)
