"""Fully convolutional nets of dense blocks (after Jégou et al. 2017): each layer sees all that came before it."""

from __future__ import annotations

from typing import Any, NamedTuple

from .backend import Tensor, need_torch
from .feed_forward import drop
from .training import Parameters

OUTPUTS = 2  # mean and log variance of a pixel
PLACE = 2  # channels that tell where in the image a pixel is


class Sizes(NamedTuple):
    """Of a net: channels after the stem, channels that a layer adds, layers a block, halvings of the image."""

    stem: int
    growth: int
    layers: int
    halvings: int


def dense_shapes(sizes: Sizes, channels: int) -> dict[str, tuple[int, ...]]:
    """Shapes (1, inputs, outputs) of the convolutions, in the order of their use; inputs are channels times places.

    >>> list(dense_shapes(Sizes(8, 4, 1, 1), 3))[::2]
    ['weight_stem', 'weight_down0_0', 'weight_pool0', 'weight_middle_0', 'weight_rise0', 'weight_up0_0', 'weight_head']
    """
    shapes: dict[str, tuple[int, ...]] = {}

    def add(name: str, inputs: int, outputs: int, places: int = 9) -> int:
        shapes[f"weight_{name}"], shapes[f"bias_{name}"] = (1, places * inputs, outputs), (1, 1, outputs)
        return outputs

    def block(name: str, inputs: int) -> int:
        for layer in range(sizes.layers):
            inputs += add(f"{name}_{layer}", inputs, sizes.growth)
        return inputs

    width, skips = add("stem", channels, sizes.stem), []
    for level in range(sizes.halvings):
        width = block(f"down{level}", width)
        skips.append(width)
        width = add(f"pool{level}", width, max(sizes.stem, width // 2), places=1)
    width = block("middle", width)
    for level in reversed(range(sizes.halvings)):
        width = block(f"up{level}", skips[level] + add(f"rise{level}", width, sizes.stem))
    add("head", width, OUTPUTS, places=1)
    return shapes


def dense_forward(
    parameters: Parameters, images: Tensor, sizes: Sizes, dropout: tuple[float, Any] | None = None
) -> Tensor:
    """Means and log variances (b, h, w, 2) of images (b, h, w, channels); ``dropout`` is a rate and a generator."""
    functional = need_torch().nn.functional
    net = _Net(parameters, sizes.layers, dropout)
    x, skips = net.convolve(_placed(images), "stem"), []
    for level in range(sizes.halvings):
        x = net.block(x, f"down{level}")
        skips.append(x)
        x = functional.max_pool2d(net.convolve(net.ready(x), f"pool{level}"), 2, ceil_mode=True)
    x = net.block(x, "middle")
    for level in reversed(range(sizes.halvings)):
        x = functional.interpolate(x, size=skips[level].shape[-2:])
        x = net.block(need_torch().cat([skips[level], net.convolve(x, f"rise{level}")], dim=1), f"up{level}")
    return net.convolve(net.ready(x), "head").permute(0, 2, 3, 1)


def _placed(images: Tensor) -> Tensor:
    """Images (b, channels + 2, h, w), the last two from -1 to 1 from the top down and from the left to the right."""
    torch = need_torch()
    b, h, w, _ = images.shape
    down, across = (torch.linspace(-1, 1, size, device=images.device) for size in (h, w))
    place = [down[:, None].expand(b, 1, h, w), across.expand(b, 1, h, w)]
    return torch.cat([images.permute(0, 3, 1, 2), *place], dim=1)


class _Net(NamedTuple):
    parameters: Parameters
    layers: int
    dropout: tuple[float, Any] | None

    def convolve(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self.parameters[f"weight_{name}"][0], self.parameters[f"bias_{name}"][0, 0]
        side = 1 if len(weight) == x.shape[1] else 3
        kernel = weight.T.reshape(-1, x.shape[1], side, side)
        return need_torch().nn.functional.conv2d(x, kernel, bias, padding=side // 2)

    def ready(self, x: Tensor) -> Tensor:
        """Normalised over each image, and its positive part."""
        functional = need_torch().nn.functional
        return functional.relu(functional.group_norm(x, 1))

    def block(self, x: Tensor, name: str) -> Tensor:
        torch = need_torch()
        for layer in range(self.layers):
            new = self.convolve(self.ready(x), f"{name}_{layer}")
            x = torch.cat([x, self.dropped(new)], dim=1)
        return x

    def dropped(self, x: Tensor) -> Tensor:
        """Whole channels left out, by image."""
        if self.dropout is None:
            return x
        rate, generator = self.dropout
        return x * drop((*x.shape[:2], 1, 1), rate, generator)
