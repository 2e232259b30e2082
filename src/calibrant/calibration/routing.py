"""Who gets which of the arguments of `fit`: the base model, the splitter, the calibrator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from ..adapters.nested import takes, weight_name


@dataclass(frozen=True)
class Routed:
    """Keyword arguments for the base model's `fit` and for the splitter's `split`."""

    base: dict[str, Any] = field(default_factory=dict)
    split: dict[str, Any] = field(default_factory=dict)


def metadata_router(owner: Any, estimator: Any, splitter: Any = None) -> MetadataRouter:
    """Build the router: the owner takes weights and groups, the base and the splitter what they request."""
    router = MetadataRouter(owner=owner).add_self_request(owner)
    router.add(estimator=estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
    if splitter is not None:
        router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    return router


def route(owner: Any, estimator: Any, splitter: Any, given: dict[str, Any], groups: Any = None) -> Routed:
    """Route what was given to `fit`; ``groups`` is None where the splitter has no use for them.

    With scikit-learn's metadata routing switched on, requests decide. Without it, weights go to the base model if it
    takes them (through pipelines and searches too), groups to the splitter, and all else to the base model's `fit`.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if get_config()["enable_metadata_routing"]:
        params = given if groups is None else {**given, "groups": groups}
        router = metadata_router(owner, estimator, splitter)
        router.validate_metadata(method="fit", params=params)
        routed = router.route_params(caller="fit", params=params)
        split = {} if splitter is None else dict(routed["splitter"]["split"])
        return Routed(dict(routed["estimator"]["fit"]), split)
    split = {} if groups is None else {"groups": groups}
    weights = given.pop("sample_weight", None)
    if weights is None:
        return Routed(given, split)
    name = weight_name(estimator)
    if name is None:
        kind = type(estimator).__name__
        warnings.warn(
            f"{kind} takes no sample_weight: the weights are used for the calibration only.", UserWarning, stacklevel=5
        )
        return Routed(given, split)
    return Routed({**given, name: weights}, split)


def uses_groups(splitter: Any) -> bool:
    """Whether a splitter looks at groups.

    >>> from sklearn.model_selection import GroupKFold, KFold
    >>> uses_groups(GroupKFold(3)), uses_groups(KFold(3))
    (True, False)
    """
    if hasattr(splitter, "get_metadata_routing"):
        return "groups" in splitter.get_metadata_routing().split.requests
    return takes(getattr(splitter, "split", None), "groups")
