r"""Gated recurrent units with one dropout mask a sequence (Gal & Ghahramani 2016b), many masks at once.

.. math::
    r_t &= \sigma(\tilde x_t W_r + b_r + \tilde h_{t-1} U_r + c_r) \\
    u_t &= \sigma(\tilde x_t W_u + b_u + \tilde h_{t-1} U_u + c_u) \\
    n_t &= \tanh(\tilde x_t W_n + b_n + r_t \circ (\tilde h_{t-1} U_n + c_n)) \\
    h_t &= (1 - u_t) \circ n_t + u_t \circ h_{t-1}

with :math:`\tilde x_t = x_t \circ z_x` and :math:`\tilde h_t = h_t \circ z_h`, the same :math:`z_x` and :math:`z_h` at
each step. A pass is a sequence with its own masks: passes are rows of the batch. Members come first everywhere.
"""

from __future__ import annotations

from typing import Any

from .backend import Tensor, need_torch
from .feed_forward import drop
from .mlp import linear
from .training import Parameters

Masks = list[Tensor]  # of the inputs and the states of each layer in turn, and of the head: (members, batch, width)


def gru_shapes(features: int, hidden: int, layers: int, members: int = 1) -> dict[str, tuple[int, ...]]:
    """Shapes of the parameters; the gates r, u and n lie side by side, and the head gives a mean and a log variance.

    >>> gru_shapes(5, 8, 1)["weight_state0"]
    (1, 8, 24)
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(layers):
        for part, inputs in (("input", hidden if layer else features), ("state", hidden)):
            shapes |= {f"weight_{part}{layer}": (members, inputs, 3 * hidden)}
            shapes |= {f"bias_{part}{layer}": (members, 1, 3 * hidden)}
    return shapes | {"weight_head": (members, hidden, 2), "bias_head": (members, 1, 2)}


def draw_masks(parameters: Parameters, batch: int, rate: float, generator: Any) -> Masks:
    """Masks of 0 and 1/(1 - rate), one row a sequence."""
    weights = [weight for name, weight in parameters.items() if name.startswith("weight")]
    return [drop((len(weight), batch, weight.shape[1]), rate, generator) for weight in weights]


def gru_forward(
    parameters: Parameters, x: Tensor, masks: Masks | None = None, states: list[Tensor] | None = None
) -> tuple[Tensor, list[Tensor]]:
    """Means and log variances (members, batch, steps, 2) of x (members, batch, steps, features), and the last states.

    ``states`` are those before the first step, one a layer; None are zeros.
    """
    layers = sum(name.startswith("weight_state") for name in parameters)
    after = []
    for layer in range(layers):
        own = [parameters[f"{kind}_{part}{layer}"] for part in ("input", "state") for kind in ("weight", "bias")]
        factors = (None, None) if masks is None else (masks[2 * layer], masks[2 * layer + 1])
        x, last = _layer(own, x, factors, None if states is None else states[layer])
        after.append(last)
    x = x if masks is None else x * masks[-1][:, :, None]
    return linear(x, parameters["weight_head"], parameters["bias_head"]), after


def _layer(own: list[Tensor], x: Tensor, factors: Any, state: Tensor | None) -> tuple[Tensor, Tensor]:
    """Outputs (members, batch, steps, hidden) of one layer, and the last of them."""
    torch = need_torch()
    from_input, input_bias, from_state, state_bias = own
    given = linear(x if factors[0] is None else x * factors[0][:, :, None], from_input, input_bias)
    h = x.new_zeros(*x.shape[:2], from_state.shape[1]) if state is None else state
    outputs = []
    for step in given.unbind(dim=2):
        held = linear(h if factors[1] is None else h * factors[1], from_state, state_bias)
        (reset, update, fresh), (held_reset, held_update, held_fresh) = step.chunk(3, dim=-1), held.chunk(3, dim=-1)
        u = torch.sigmoid(update + held_update)
        n = torch.tanh(fresh + torch.sigmoid(reset + held_reset) * held_fresh)
        h = n + u * (h - n)
        outputs.append(h)
    return torch.stack(outputs, dim=2), h
