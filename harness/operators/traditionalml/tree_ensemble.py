"""TreeEnsemble, and before it TreeEnsembleClassifier and TreeEnsembleRegressor: what the leaves reached say."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx

from harness.numbers.balls import isnan
from harness.numbers.branches import greater, greater_equal, less, less_equal
from harness.operators.traditionalml.post_transform import NUMBERED, reals, top, transformed
from harness.operators.traditionalml.trees import MODES
from harness.spec.codec import from_proto
from harness.spec.element_types import element_type
from harness.spec.values import TensorType


def equal(x: Any, value: Any) -> bool:
    """``x == value``, decided once."""
    return bool(less_equal(x, value)) and bool(greater_equal(x, value))


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "LEQ": less_equal,
    "LT": less,
    "GTE": greater_equal,
    "GT": greater,
    "EQ": equal,
    "NEQ": lambda x, value: not equal(x, value),
    "MEMBER": lambda x, values: any(equal(x, value) for value in values),
}


def is_true(mode: str, x: Any, value: Any, nan_is_true: int) -> bool:
    """Which branch a feature takes: "true … or false branch … in the presence of a NaN", whatever the mode."""
    return bool(nan_is_true) if isnan(x) else bool(COMPARISONS[mode](x, value))


def aggregated(weights: Sequence[Any], function: str) -> Any:
    """The leaf values within a target; 0 where there are none."""
    if not weights:
        return 0.0
    match function:
        case "SUM":
            return sum(weights[1:], weights[0])
        case "AVERAGE":
            return sum(weights[1:], weights[0]) / len(weights)
        case _:
            ordered = greater if function == "MAX" else less
            best = weights[0]
            for weight in weights[1:]:
                best = weight if ordered(weight, best) else best
            return best


def elements(tensor: onnx.TensorProto | None) -> list[Any]:
    """The elements of a tensor in an attribute as Python numbers."""
    if tensor is None:
        return []
    return np.asarray(from_proto(tensor, TensorType(element_type(tensor.data_type)))).astype(np.float64).tolist()


FUNCTIONS = ("AVERAGE", "SUM", "MIN", "MAX")
"""In the order of TreeEnsemble's numbers."""


def tree_ensemble(
    X: np.ndarray,
    *,
    aggregate_function: int,
    leaf_targetids: list[int],
    leaf_weights: onnx.TensorProto,
    membership_values: onnx.TensorProto | None,
    n_targets: int,
    nodes_featureids: list[int],
    nodes_missing_value_tracks_true: list[int] | None,
    nodes_modes: onnx.TensorProto,
    nodes_splits: onnx.TensorProto,
    post_transform: int,
    tree_roots: list[int],
    **branches: Any,
) -> np.ndarray:
    """From each root on along the branches to a leaf, whose weight is one of its target's.

    The text says of ``nodes_truenodeids`` twice what it is "if ``nodes_trueleafs`` is false": it means true, where the
    number is "an index into the leaf_* attributes", as ONNX's own tests have it. Members are listed "in the order that
    the 'BRANCH_MEMBER' mode appears in ``node_modes``, delimited by ``NaN``s".
    """
    modes = [MODES[int(mode)] for mode in elements(nodes_modes)]
    values: list[Any] = elements(nodes_splits)
    members = iter(elements(membership_values))
    for i in (i for i, mode in enumerate(modes) if mode == "MEMBER"):
        values[i] = list(itertools.takewhile(lambda member: not np.isnan(member), members))
    nan_is_true = nodes_missing_value_tracks_true or [0] * len(modes)
    weights = elements(leaf_weights)

    def reached(x: np.ndarray, i: int) -> int:
        side = "true" if is_true(modes[i], x[nodes_featureids[i]], values[i], nan_is_true[i]) else "false"
        child = branches[f"nodes_{side}nodeids"][i]
        return child if branches[f"nodes_{side}leafs"][i] else reached(x, child)

    scores = np.zeros((len(X), n_targets))
    for n, x in enumerate(X):
        leaves = [reached(x, root) for root in tree_roots]
        for target in range(n_targets):
            votes = [weights[leaf] for leaf in leaves if leaf_targetids[leaf] == target]
            scores[n, target] = aggregated(votes, FUNCTIONS[aggregate_function])
    return transformed(reals(scores), NUMBERED[post_transform])


def _listed(given: dict[str, Any], name: str) -> list[Any]:
    """A list of floats, or the tensor of doubles "instead of the same parameter without the suffix"."""
    return given[name] if given.get(f"{name}_as_tensor") is None else elements(given[f"{name}_as_tensor"])


def votes_of(X: np.ndarray, given: dict[str, Any], prefix: str) -> Iterator[list[tuple[int, Any]]]:
    """For each example the votes of the leaves that it reaches: the class or target, and the weight.

    A node of the tree that is nobody's child is its root.
    """
    nodes = list(zip(given["nodes_treeids"], given["nodes_nodeids"], strict=True))
    modes = [mode.decode().removeprefix("BRANCH_") for mode in given["nodes_modes"]]
    values = _listed(given, "nodes_values")
    nan_is_true = given["nodes_missing_value_tracks_true"] or [0] * len(nodes)

    def child(i: int, *, true: bool) -> int:
        return nodes.index((nodes[i][0], given["nodes_truenodeids" if true else "nodes_falsenodeids"][i]))

    def reached(x: np.ndarray, i: int) -> int:
        if modes[i] == "LEAF":
            return i
        feature = x[given["nodes_featureids"][i]]
        return reached(x, child(i, true=is_true(modes[i], feature, values[i], nan_is_true[i])))

    children = {child(i, true=true) for i, mode in enumerate(modes) if mode != "LEAF" for true in (True, False)}
    roots = [i for i in range(len(nodes)) if i not in children]
    fields = (given[f"{prefix}_treeids"], given[f"{prefix}_nodeids"], given[f"{prefix}_ids"])
    votes = list(zip(*fields, _listed(given, f"{prefix}_weights"), strict=True))
    for x in X:
        leaves = [nodes[reached(x, root)] for root in roots]
        yield [(to, weight) for tree, node, to, weight in votes if (tree, node) in leaves]


def scores_of(X: np.ndarray, given: dict[str, Any], prefix: str, count: int, function: str) -> np.ndarray:
    """The votes for each class or target aggregated, and then the base values [N, count]."""
    scores = np.zeros((len(X), count), object)
    base = _listed(given, "base_values") or [0.0] * count
    for n, votes in enumerate(votes_of(X, given, prefix)):
        for target in range(count):
            own = [weight for to, weight in votes if to == target]
            scores[n, target] = aggregated(own, function) + base[target]
    return reals(scores)


def tree_ensemble_classifier(X: np.ndarray, **given: Any) -> tuple[np.ndarray, np.ndarray]:
    """A class's score is the sum of its votes: "A leaf may have multiple votes, where each vote is weighted"."""
    labels = given["classlabels_int64s"] or given["classlabels_strings"]
    scores = scores_of(X, given, "class", len(labels), "SUM")
    return top(scores, labels), transformed(scores, given["post_transform"])


def tree_ensemble_regressor(X: np.ndarray, **given: Any) -> np.ndarray:
    """The votes for each target aggregated; base values are "added to final prediction after aggregate_function"."""
    scores = scores_of(X, given, "target", given["n_targets"], given["aggregate_function"])
    return transformed(scores, given["post_transform"])
