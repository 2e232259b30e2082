"""Nets that are trained at once, each on its own rows: their members are one batch of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._checks import Array, sample_weights
from .backend import Tensor, check_device, few_threads, generator_of, need_torch, repeatable
from .training import Parameters, Split, split_of, train


class Table(NamedTuple):
    """Rows, targets and weights of one net."""

    X: Array
    y: Array
    weights: Array


def fit_together(
    net: Any, X: Any, y: Any, parts: Sequence[Any], sample_weight: Any = None, *, random_states: Any = None
) -> list[Any]:
    """Clones of a net, one fitted to each part of the rows: the folds of a cross-fit, or bootstrap samples.

    Those of parts with equally many rows are trained at once, which on a GPU takes hardly longer than one of them. Each
    starts, and holds out rows, as it would alone; batches and dropout are drawn for all together.

    Parameters
    ----------
    net : DropoutMLP, ConcreteDropoutMLP or DeepEnsemble
    X : array-like or frame (n, n_features)
    y : array-like (n,)
    parts : sequence of int arrays
        Numbers of the rows of each part.
    sample_weight : array-like (n,), optional
        Frequencies.
    random_states : sequence, optional
        Of each clone; that of the net unless given.

    Examples
    --------
    >>> from calibrant.forecasters import DeepEnsemble, fit_together
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> net = DeepEnsemble(hidden=(8,), max_epochs=5)
    >>> folds = fit_together(net, X, X.sum(axis=1), [np.arange(60), np.arange(30, 90)])
    >>> [len(one.predict_dist(X)) for one in folds]
    [90, 90]
    """
    weights, targets = sample_weights(sample_weight, len(y)), np.asarray(y)
    seeds = [net.random_state] * len(parts) if random_states is None else random_states
    nets = [clone(net).set_params(random_state=seed) for seed, _ in zip(seeds, parts, strict=True)]
    tables = [
        one._begun(_safe_indexing(X, rows), targets[rows], None if weights is None else weights[rows])
        for one, rows in zip(nets, parts, strict=True)
    ]
    for some in _groups(nets, tables):
        train_together([nets[i] for i in some], [tables[i] for i in some])
    return nets


def _groups(nets: Sequence[Any], tables: Sequence[Table]) -> list[list[int]]:
    """Nets with equally many rows; those that need more than rows and parameters by themselves."""
    groups: dict[tuple[int, int], list[int]] = {}
    for i, (net, table) in enumerate(zip(nets, tables, strict=True)):
        groups.setdefault((len(table.y), -1 if net._shares_training else i), []).append(i)
    return list(groups.values())


def train_together(nets: Sequence[Any], tables: Sequence[Table]) -> None:
    """Train nets of one kind, each on its own table, with equally many rows."""
    host = nets[0]
    with few_threads(len(nets) * host.batch_size * host._work(tables[0].X)), repeatable(check_device(host.device)):
        best, history = _trained(nets, tables)
    members = len(history[0]) // len(nets)
    for i, (net, table) in enumerate(zip(nets, tables, strict=True)):
        mine = slice(i * members, (i + 1) * members)
        net._finish({name: tensor[mine] for name, tensor in best.items()}, np.array(history)[:, mine], table)


def _trained(nets: Sequence[Any], tables: Sequence[Table]) -> tuple[Parameters, list[NDArray[np.float64]]]:
    torch, host = need_torch(), nets[0]
    begun = [_start(net, table) for net, table in zip(nets, tables, strict=True)]
    generator = begun[0].generator
    ends = np.cumsum([0, *(len(table.y) for table in tables)])[:-1].tolist()
    kept, held = (torch.cat([one.split[k] + end for one, end in zip(begun, ends, strict=True)]) for k in (0, 1))
    x, t, weights = (torch.cat([one.rows[k] for one in begun]) for k in range(3))
    parameters = {
        name: torch.cat([one.parameters[name] for one in begun]) for name in begun[0].parameters
    }  # members of all nets
    members = len(kept) // len(nets)
    trained = [net._trained_on(table) for net, table in zip(nets, tables, strict=True)]
    rows = torch.tensor(trained, device=x.device).repeat_interleave(members)

    def losses(numbers: Tensor, training: bool) -> Tensor:
        return host._row_losses(parameters, x[numbers], t[numbers], generator if training else None)

    penalised = host._penalty(parameters, rows) is not None
    penalty = (lambda: host._penalty(parameters, rows)) if penalised else None
    return train(parameters, losses, Split(kept, held, weights), host._plan(), generator, penalty)


class _Start(NamedTuple):
    generator: Any
    rows: tuple[Tensor, Tensor, Tensor]  # inputs, targets, weights
    split: tuple[Tensor, Tensor]
    parameters: Parameters


def _start(net: Any, table: Table) -> _Start:
    """What a net begins with."""
    generator = generator_of(net.seed_, check_device(net.device))
    x, t = net._tensor(net.inputs_(table.X)), net._tensor(net.target_(table.y[..., None])[..., 0])
    weights = net._tensor((table.weights / table.weights.mean()).astype(np.float32))
    split = split_of(len(table.y), net.validation_fraction, net._members(), generator)
    return _Start(generator, (x, t, weights), split, net._start(generator))
