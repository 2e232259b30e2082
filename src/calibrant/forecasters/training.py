"""One training loop for all nets: Adam on minibatches, all members at once, the best weights on held-out rows kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .backend import Tensor, need_torch

Parameters = dict[str, Tensor]  # by name; the first axis of each is members
RowLosses = Callable[[Tensor, bool], Tensor]  # rows (members, b), whether in training -> losses (members, b)
Penalty = Callable[[], Tensor]  # -> (members,), added to the mean loss of each batch
_HELD_BATCHES = 8  # batches' worth of held-out rows looked at together


@dataclass(frozen=True)
class Plan:
    r"""How to train.

    Attributes
    ----------
    max_epochs, batch_size : int
    learning_rate : float
        Of Adam.
    patience : int
        Epochs without a better held-out loss after which a member is finished.
    decay : float
        :math:`2\lambda` of the penalty :math:`\lambda\lVert\theta\rVert^2` on the parameters in ``decayed``.
    decayed : tuple of str
    verbose : bool
        Whether to show epochs on the standard error stream.
    """

    max_epochs: int
    batch_size: int
    learning_rate: float
    patience: int
    decay: float = 0.0
    decayed: tuple[str, ...] = ()
    verbose: bool = False


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows held out, of each member: (members, n) numbers of rows; weights (n_rows,) of all.

    Without held-out rows (0 columns) all epochs run, and the last weights are kept.
    """

    train: Tensor
    held: Tensor
    weights: Tensor


def held_of(rows: int, share: float) -> int:
    """How many rows are held out."""
    return int(share * rows) if rows > 1 else 0


def split_of(rows: int, share: float, members: int, generator: Any) -> tuple[Tensor, Tensor]:
    """Numbers of rows to train on and to hold out, drawn for each member; none is held out of very few rows."""
    torch = need_torch()
    order = _shuffles(members, rows, generator)
    held = held_of(rows, share)
    return torch.split(order, [rows - held, held], dim=1)  # type: ignore[no-any-return]


def train(
    parameters: Parameters, losses: RowLosses, split: Split, plan: Plan, generator: Any, penalty: Penalty | None = None
) -> tuple[Parameters, list[NDArray[np.float64]]]:
    """The best parameters of each member, and the loss (members,) after each epoch: held out, or in training.

    Members do not know of each other: their losses are added, and a sum has the gradient of each part.
    """
    torch = need_torch()
    for tensor in parameters.values():
        tensor.requires_grad_(True)
    optimiser = _adam(parameters, plan)
    keeper, history = _Best(parameters, plan.patience), []
    judged = split.held.shape[1] > 0
    for epoch in range(plan.max_epochs):
        seen = []
        for rows in _batches(split.train, plan.batch_size, generator):
            weighted = (losses(rows, True) * split.weights[rows]).mean(dim=1)
            loss = weighted if penalty is None else weighted + penalty()
            optimiser.zero_grad(set_to_none=True)
            loss.sum().backward()
            optimiser.step()
            seen.append(weighted.detach())
        with torch.no_grad():
            current = _held_loss(losses, split, plan) if judged else torch.stack(seen).mean(dim=0)
            finished = judged and keeper.look(current)
        history.append(current.double().cpu().numpy())
        _show(epoch, plan, history[-1])
        if finished:
            break
    _show(None, plan, history[-1])
    return keeper.best if judged else {k: v.detach() for k, v in parameters.items()}, history


def _adam(parameters: Parameters, plan: Plan) -> Any:
    torch = need_torch()
    decayed = [tensor for name, tensor in parameters.items() if name in plan.decayed]
    others = [tensor for name, tensor in parameters.items() if name not in plan.decayed]
    groups = [(decayed, plan.decay), (others, 0.0)]
    given = [{"params": mine, "weight_decay": decay} for mine, decay in groups if mine]
    return torch.optim.Adam(given, lr=plan.learning_rate, fused=True)


class _Best:
    """The parameters of each member when its held-out loss was least; what comes after its patience is over is left."""

    def __init__(self, parameters: Parameters, patience: int) -> None:
        torch = need_torch()
        self.parameters, self.patience = parameters, patience
        self.best = {name: tensor.detach().clone() for name, tensor in parameters.items()}
        members = next(iter(parameters.values()))
        self.least = torch.full((len(members),), torch.inf, device=members.device)
        self.waited = torch.zeros(len(members), device=members.device)

    def look(self, losses: Tensor) -> bool:
        """Take what is better; whether all members are finished."""
        torch = need_torch()
        better = (losses < self.least) & (self.waited < self.patience)
        self.least = torch.where(better, losses, self.least)
        self.waited = torch.where(better, 0.0, self.waited + 1)
        for name, tensor in self.parameters.items():
            mine = better.reshape(-1, *[1] * (tensor.ndim - 1))
            self.best[name] = torch.where(mine, tensor.detach(), self.best[name])
        return bool((self.waited >= self.patience).all())


def _shuffles(members: int, rows: int, generator: Any) -> Tensor:
    torch = need_torch()
    return torch.rand(members, rows, generator=generator, device=generator.device, dtype=torch.float64).argsort(dim=1)


def _batches(rows: Tensor, size: int, generator: Any) -> Iterator[Tensor]:
    """All rows of each member in new order, in batches of nearly one size."""
    order = rows.gather(1, _shuffles(len(rows), rows.shape[1], generator))
    return iter(order.tensor_split(-(-rows.shape[1] // size), dim=1))


def _held_loss(losses: RowLosses, split: Split, plan: Plan) -> Tensor:
    """Weighted mean over the held-out rows, (members,)."""
    blocks = split.held.split(_HELD_BATCHES * plan.batch_size, dim=1)
    total = sum((losses(rows, False) * split.weights[rows]).sum(dim=1) for rows in blocks)
    return total / split.weights[split.held].sum(dim=1)


def _show(epoch: int | None, plan: Plan, losses: NDArray[np.float64]) -> None:
    """A line that is written over; None ends it."""
    if plan.verbose:
        told = "\n" if epoch is None else f"\repoch {epoch + 1}/{plan.max_epochs}, loss {losses.mean():.4f} "
        sys.stderr.write(told)
        sys.stderr.flush()
