"""torch, when it is asked for: the device, the generator and the number of threads of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensor = Any  # a torch.Tensor; torch is loaded only where a net is trained or read
_SMALL = 2**24  # multiplications of a step below which threads wait for each other


def need_torch(who: str = "forecasters need") -> Any:
    """The module, or what to do where it is missing."""
    try:
        import torch
    except ImportError as reason:
        raise ImportError(f"{who} torch, which is not installed: pip install 'calibrant[torch]'.") from reason
    return torch


def check_device(name: Any) -> Any:
    """A device of torch that is here."""
    if name == "cpu":
        return _cpu()
    torch = need_torch()
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f"`device` must be 'cpu', 'cuda' or another name that torch knows; got {name!r}.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"`device` must be one that is here; torch sees no GPU for {name!r}. Say device='cpu'.")
    return device


@cache
def _cpu() -> Any:
    return need_torch().device("cpu")


def tensor_of(array: NDArray[Any], device: Any) -> Tensor:
    """The same numbers on a device: on the CPU not even a copy."""
    tensor = need_torch().from_numpy(array)
    return tensor if device.type == "cpu" else tensor.to(device)


def seed_of(random_state: Any) -> int:
    """A seed drawn from a seed or generator; None is 0, so that a fit can be repeated.

    >>> seed_of(None) == seed_of(0), seed_of(0) == seed_of(1)
    (True, False)
    """
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(np.random.default_rng(0 if random_state is None else random_state).integers(2**31 - 1))


def generator_of(seed: int, device: Any) -> Any:
    """A generator of its own: torch's global one is left alone."""
    return need_torch().Generator(device=device).manual_seed(seed)


def few_threads(multiplications: float) -> AbstractContextManager[None]:
    """Context in which torch works in one thread, where a step has few multiplications."""
    before = need_torch().get_num_threads()
    return nullcontext() if before == 1 or multiplications >= _SMALL else _one_thread(before)


@contextmanager
def _one_thread(before: int) -> Iterator[None]:
    torch = need_torch()
    try:
        torch.set_num_threads(1)
        yield
    finally:
        torch.set_num_threads(before)


def repeatable(device: Any) -> AbstractContextManager[None]:
    """Context in which a GPU convolves by algorithms that give the same digits each time."""
    return nullcontext() if device.type == "cpu" else _deterministic()


@contextmanager
def _deterministic() -> Iterator[None]:
    cudnn = need_torch().backends.cudnn
    before = cudnn.deterministic, cudnn.benchmark
    try:
        cudnn.deterministic, cudnn.benchmark = True, False
        yield
    finally:
        cudnn.deterministic, cudnn.benchmark = before
