"""Trees, and the attributes that say them in either of the two ways that there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec


class Leaf(msgspec.Struct, frozen=True):
    """Where a tree ends: a weight for each target, or class, that it votes for."""

    votes: dict[int, float]


class Branch(msgspec.Struct, frozen=True):
    """A comparison of a feature, and where it leads."""

    feature: int
    mode: str
    """``LEQ``, ``LT``, ``GTE``, ``GT``, ``EQ``, ``NEQ`` or ``MEMBER``."""
    value: float | tuple[float, ...]
    """What the feature is compared with; the members for MEMBER."""
    true: Tree
    false: Tree
    nan_is_true: bool = False
    """``nodes_missing_value_tracks_true``."""


Tree = Leaf | Branch
MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
"""In the order of TreeEnsemble's numbers."""


def by_nodes(trees: Sequence[Tree], votes: str, *, first_node: Sequence[int] = ()) -> dict[str, list[Any]]:
    """The attributes of TreeEnsembleClassifier or Regressor, whose votes have the prefix ``class_`` or ``target_``.

    A root comes before what is below it; ``first_node`` states the node id of each tree's root, 0 by default.
    """
    nodes: list[dict[str, Any]] = []
    leaves: list[tuple[int, int, int, float]] = []

    def add(tree: Tree, of: int, node: int) -> int:
        """Write down a tree whose root has this id, and give the next one that is free."""
        branch = tree if isinstance(tree, Branch) else Branch(0, "", 0.0, tree, tree)
        entry = {
            "treeids": of,
            "nodeids": node,
            "featureids": branch.feature,
            "modes": (f"BRANCH_{branch.mode}" if branch.mode else "LEAF").encode(),
            "values": branch.value,
            "truenodeids": 0,
            "falsenodeids": 0,
            "missing_value_tracks_true": int(branch.nan_is_true),
            "hitrates": 1.0,
        }
        nodes.append(entry)
        if isinstance(tree, Leaf):
            leaves.extend((of, node, target, weight) for target, weight in tree.votes.items())
            return node + 1
        entry["truenodeids"] = node + 1
        entry["falsenodeids"] = add(tree.true, of, node + 1)
        return add(tree.false, of, entry["falsenodeids"])

    for i, tree in enumerate(trees):
        add(tree, i, first_node[i] if first_node else 0)
    names = [f"{votes}_{name}" for name in ("treeids", "nodeids", "ids", "weights")]
    return {
        **{f"nodes_{name}": [node[name] for node in nodes] for name in nodes[0]},
        **{name: list(column) for name, column in zip(names, zip(*leaves, strict=True), strict=True)},
    }


def by_leaves(trees: Sequence[Tree]) -> dict[str, list[Any]]:
    """The attributes of TreeEnsemble, a list each; what is below a node comes before it, and roots come last.

    A tree that is a leaf has a node whose branches are both that leaf.
    """
    nodes: list[dict[str, Any]] = []
    leaves: list[tuple[int, float]] = []
    members: list[float] = []

    def add(tree: Tree) -> tuple[int, int]:
        """Write down a tree, and give its position and whether it is a leaf's."""
        if isinstance(tree, Leaf):
            leaves.extend(tree.votes.items())
            return len(leaves) - 1, 1
        return add_branch(tree, add(tree.true), add(tree.false)), 0

    def add_branch(branch: Branch, true: tuple[int, int], false: tuple[int, int]) -> int:
        is_member = isinstance(branch.value, tuple)
        if isinstance(branch.value, tuple):
            members.extend((*branch.value, float("nan")))
        nodes.append(
            {
                "featureids": branch.feature,
                "modes": MODES.index(branch.mode),
                "splits": 0.0 if is_member else branch.value,
                "truenodeids": true[0],
                "trueleafs": true[1],
                "falsenodeids": false[0],
                "falseleafs": false[1],
                "missing_value_tracks_true": int(branch.nan_is_true),
                "hitrates": 1.0,
            }
        )
        return len(nodes) - 1

    roots: list[int] = []
    for tree in trees:
        place, is_leaf = add(tree)
        roots.append(add_branch(Branch(0, "LEQ", 0.0, tree, tree), (place, 1), (place, 1)) if is_leaf else place)
    return {
        **{f"nodes_{name}": [node[name] for node in nodes] for name in nodes[0]},
        "leaf_targetids": [target for target, _ in leaves],
        "leaf_weights": [weight for _, weight in leaves],
        "membership_values": members,
        "tree_roots": roots,
    }


def forest(votes: Callable[[int, int], dict[int, float]], *, members: bool = False) -> tuple[Tree, ...]:
    """Four trees of five features, one of them a leaf, with every mode: ``votes(tree, leaf)`` are those of a leaf.

    NaN follows the branch that a comparison with it does not take, and the one that it takes.
    """

    def leaf(tree: int, number: int) -> Leaf:
        return Leaf(votes(tree, number))

    if members:
        first = Branch(2, "MEMBER", (0.0, 1.0, -4.0), leaf(2, 0), leaf(2, 1))
        second = Branch(3, "MEMBER", (2.0,), leaf(2, 2), leaf(2, 3), nan_is_true=True)
    else:
        first = Branch(2, "LT", 0.0, leaf(2, 0), leaf(2, 1))
        second = Branch(3, "GTE", 2.0, leaf(2, 2), leaf(2, 3), nan_is_true=True)
    return (
        Branch(
            0,
            "LEQ",
            1.0,
            Branch(1, "LT", -1.0, leaf(0, 0), leaf(0, 1), nan_is_true=True),
            Branch(2, "GTE", 2.0, leaf(0, 2), leaf(0, 3)),
        ),
        Branch(
            3,
            "GT",
            -0.5,
            Branch(4, "EQ", 1.0, leaf(1, 0), leaf(1, 1), nan_is_true=True),
            Branch(0, "NEQ", 3.0, leaf(1, 2), leaf(1, 3)),
            nan_is_true=True,
        ),
        Branch(1, "NEQ", 0.0, first, second),
        leaf(3, 0),
    )


TRIED: Final = ((1, 3), (-1, 0), (2, 0, 1, -4), (-0.5, 2), (1,))
"""What each feature is compared with in ``forest``."""
DIGITS: Final = (-2, -1, 1, 2)


def told_apart(tree: int, leaf: int) -> float:
    """A weight for each leaf, of which no two sums over the trees are equal."""
    return float(DIGITS[leaf] * 5**tree)
