"""Trees that LightGBM has grown, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numerics.forest import MOST_LEAVES, Forest

Node = dict[str, Any]


def need_lightgbm() -> Any:
    """The module, or what to do where it is missing."""
    try:
        import lightgbm
    except ImportError as reason:
        text = "BoostedCalibrator needs lightgbm to fit, which is not installed: pip install 'calibrant[boost]'."
        raise ImportError(text) from reason
    return lightgbm


def forest_of(models: Sequence[tuple[Any, int]], sizes: NDArray[np.intp], outputs: int = 2) -> Forest:
    """The mean of models, each as after that many rounds; ``sizes`` are numbers of categories of the features."""
    share = 1 / max(len(models), 1)
    trees = [tree for model, rounds in models for tree in _trees(model, rounds)]
    trees.sort(key=lambda tree: int(tree[0]))
    shape = (len(trees), MOST_LEAVES - 1)
    ints = np.full((3, *shape), -1, dtype=np.intp)
    threshold, missing = np.zeros(shape), np.zeros(shape, dtype=bool)
    value, members = np.zeros((len(trees), MOST_LEAVES)), []
    for t, (_, nodes, leaves) in enumerate(trees):
        value[t, : len(leaves)] = share * np.array(leaves)
        for k, node in enumerate(nodes):
            ints[:, t, k] = node["split_feature"], node["left"], node["right"]
            if node["decision_type"] == "==":
                members += [(t, k, int(code)) for code in node["threshold"].split("||")]
                continue
            threshold[t, k] = node["threshold"]
            by_zero = node["missing_type"] == "None"  # then LightGBM takes what is missing for 0
            missing[t, k] = node["threshold"] >= 0.0 if by_zero else node["default_left"]
    output = np.array([tree[0] for tree in trees], dtype=np.intp)
    known = np.array(members, dtype=np.intp).reshape(-1, 3)
    feature, left, right = ints
    return Forest(feature, left, right, threshold, missing, value, output, known, sizes, outputs)


def _trees(model: Any, rounds: int) -> Iterator[tuple[int, list[Node], list[float]]]:
    """Output, nodes with numbered children, and leaf values of each tree."""
    if not rounds:
        return
    told = model.dump_model(num_iteration=rounds)
    for place, tree in enumerate(told["tree_info"]):
        nodes: list[Node] = []
        leaves: list[float] = []
        _number(tree["tree_structure"], nodes, leaves)
        if nodes or leaves != [0.0]:
            yield place % told["num_tree_per_iteration"], nodes, leaves


def _number(node: Node, nodes: list[Node], leaves: list[float]) -> int:
    """Number a node and all below it, from the left; the number of a leaf is negative."""
    if "leaf_value" in node:
        leaves.append(node["leaf_value"])
        return -len(leaves)
    mine = len(nodes)
    nodes.append(node)
    node["left"] = _number(node["left_child"], nodes, leaves)
    node["right"] = _number(node["right_child"], nodes, leaves)
    return mine
