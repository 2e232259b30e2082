"""Feed-forward nets: members along the first axis, passes along another; one product of matrices a layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .backend import Tensor, need_torch
from .training import Parameters

SLOPE = 0.25  # of a parametric ReLU at first


def mlp_shapes(widths: Sequence[int], members: int, activation: str = "relu") -> dict[str, tuple[int, ...]]:
    """Shapes of the parameters of nets with these widths, from inputs to outputs.

    >>> mlp_shapes([3, 8, 1], 5)
    {'weight0': (5, 3, 8), 'bias0': (5, 1, 8), 'weight1': (5, 8, 1), 'bias1': (5, 1, 1)}
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (inputs, outputs) in enumerate(pairwise(widths)):
        shapes |= {f"weight{layer}": (members, inputs, outputs), f"bias{layer}": (members, 1, outputs)}
    if activation == "prelu":
        shapes |= {f"slope{layer}": (members, 1, 1) for layer in range(len(widths) - 2)}
    return shapes


def start_mlp(shapes: dict[str, tuple[int, ...]], generator: Any) -> Parameters:
    r"""Weights and biases drawn from :math:`U(-1/\sqrt{m}, 1/\sqrt{m})`, m the inputs of the layer."""
    torch = need_torch()
    found: Parameters = {}
    for name, shape in shapes.items():
        if name.startswith("slope"):
            found[name] = torch.full(shape, SLOPE, device=generator.device)
            continue
        inputs = shapes[name.replace("bias", "weight")][1]
        found[name] = (torch.rand(shape, generator=generator, device=generator.device) * 2 - 1) / inputs**0.5
    return found


def linear(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Of h (members, ..., inputs), with weights (members, inputs, outputs): (members, ..., outputs)."""
    flat = h.flatten(1, -2)
    return bias.baddbmm(flat, weight).reshape(*h.shape[:-1], weight.shape[-1])


def forward(parameters: Parameters, x: Tensor, factors: Sequence[Tensor | None] = ()) -> Tensor:
    """Outputs (members, ..., rows, outputs) of x (members, ..., rows, inputs).

    ``factors`` multiply what goes into each layer, the inputs first: what dropout is. They are spread over the axes of
    h, so (members, rows, width) drops by row and (members, passes, 1, width) makes all passes at once.
    """
    layers = sum(name.startswith("weight") for name in parameters)
    h = x
    for layer in range(layers):
        factor = factors[layer] if layer < len(factors) else None
        h = h if factor is None else h * factor
        h = linear(h, parameters[f"weight{layer}"], parameters[f"bias{layer}"])
        if layer + 1 < layers:
            h = activated(h, parameters.get(f"slope{layer}"))
    return h


def activated(h: Tensor, slope: Tensor | None = None) -> Tensor:
    """ReLU; with slopes (members, 1, 1), these below 0."""
    if slope is None:
        return h.relu_()  # in place: h is the layer's own, and its product needs it no more
    return h.relu() - slope.reshape(-1, *[1] * (h.ndim - 1)) * (-h).relu()
