"""The models that tree ensembles are tried with, and the inputs that go down every branch of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import onnx

from harness.operators.traditionalml.post_transform import NAMED, NONE, OPEN
from harness.operators.traditionalml.tree_ensemble import (
    tree_ensemble,
    tree_ensemble_classifier,
    tree_ensemble_regressor,
)
from harness.operators.traditionalml.trees import (
    TRIED,
    Branch,
    Leaf,
    Tree,
    by_leaves,
    by_nodes,
    forest,
    told_apart,
)
from harness.oracles.draw import Draw
from harness.oracles.operator import OMITTED, Operator, Sample, Types, operator
from harness.spec.codec import to_proto
from harness.spec.element_types import BY_NAME
from harness.spec.values import TensorType

FLOAT, DOUBLE = "tensor(float)", "tensor(double)"
ROWS: Final = 7
ML: Final = "ai.onnx.ml"


def tensor(values: Sequence[float], of: str = "") -> Callable[[Types], onnx.TensorProto]:
    """An attribute that is a tensor, of the type of the inputs unless another is stated."""

    def value(types: Types) -> onnx.TensorProto:
        element = BY_NAME[of or types["T"].removeprefix("tensor(").removesuffix(")")]
        return to_proto(np.array(values, element.dtype), TensorType(element))

    return value


# Inputs


def tried(draw: Draw, rows: int = ROWS, sets: int = 1) -> np.ndarray:
    """Examples [sets, rows, features] around what ``forest`` compares features with: there, below it and above it.

    Two sets have all of them, each feature in an order of its own.
    """
    values = draw.T1 if "T1" in draw.types else draw.T
    step = 0.25 if values.element.format else 1
    columns: list[np.ndarray] = []
    for places in TRIED:
        near = np.array([np.floor(place / step) * step + i * step for place in places for i in (0, -1, 1)])
        columns.append(np.resize(near[np.argsort(draw.words(len(near)))], (sets, rows)))
    return values(np.stack(columns, axis=2))


def openness(draw: Draw) -> str:
    """Why a transform leaves answers open, or nothing."""
    transform = draw.attributes["post_transform"]
    return OPEN.get(("NONE", *NAMED)[transform] if isinstance(transform, int) else transform, "")


def ordinary(draw: Draw) -> Iterator[Sample]:
    """Features at what they are compared with, and below and above it; two sets of examples."""
    for x in tried(draw, sets=2):
        yield Sample({"X": x.copy()}, unspecified=openness(draw))


def few_examples(draw: Draw) -> Iterator[Sample]:
    """One example, and none."""
    for rows in (1, 0):
        yield Sample({"X": tried(draw, rows)[0]}, unspecified=openness(draw))


def not_a_number(draw: Draw) -> Iterator[Sample]:
    """NaN in each feature, in several and in all: it follows the branch that the node says, whatever the comparison."""
    width = len(TRIED)
    for shift, x in enumerate(tried(draw, sets=2)):
        x[: width - shift] = np.where(np.eye(width - shift, width, shift, dtype=bool), np.nan, x[: width - shift])
        x[5, shift::2] = np.nan
        x[6] = np.nan
        yield Sample({"X": x.copy()}, unspecified=openness(draw))


def special_values(draw: Draw) -> Iterator[Sample]:
    """Infinities, zeros of both signs, which are equal, subnormal and largest numbers, in each feature."""
    values = draw.T1 if "T1" in draw.types else draw.T
    specials = values.specials()
    specials = specials[~np.isnan(specials)]
    yield Sample({"X": np.resize(specials, (ROWS, len(TRIED)))}, unspecified=openness(draw))


def register(*operators: Operator) -> None:
    """The groups of the models of an operator: the first meets them all, the others do without small batches."""
    for one in operators:
        variable = "T1" if "T1" in one.schemas[0].variables else "T"
        one.inputs()(ordinary)
        one.inputs(**{variable: "float"})(special_values)
        one.inputs(**{variable: "float"})(not_a_number)
        if one is operators[0]:
            one.inputs(**{variable: FLOAT})(few_examples)


# TreeEnsemble

NO_VOTES = (
    'aggregate_function: "Defines how to aggregate leaf values within a target". What it gives a target without leaf '
    "values is not said, nor whether an average is over a target's leaf values or over all trees."
)


def declare_newest(
    trees: Sequence[Tree], targets: int, *, exact: bool, whole_model: bool = False, **pools: Any
) -> Operator:
    """Declares TreeEnsemble with a model; hit rates, too, and what NaN does where it is the whole model."""
    model = by_leaves(trees)
    given: dict[str, Any] = {
        "aggregate_function": (OMITTED,),
        "post_transform": (OMITTED,),
        **pools,
    }
    return operator(
        "TreeEnsemble",
        domain=ML,
        since=5,
        exact=exact,
        full_product=True,
        leaf_targetids=(model["leaf_targetids"],),
        leaf_weights=(tensor(model["leaf_weights"]),),
        membership_values=(tensor(model["membership_values"]) if model["membership_values"] else OMITTED,),
        n_targets=(targets,),
        nodes_falseleafs=(model["nodes_falseleafs"],),
        nodes_falsenodeids=(model["nodes_falsenodeids"],),
        nodes_featureids=(model["nodes_featureids"],),
        nodes_hitrates=(OMITTED, tensor(model["nodes_hitrates"], "float")) if whole_model else (OMITTED,),
        nodes_missing_value_tracks_true=(model["nodes_missing_value_tracks_true"] if whole_model else OMITTED,),
        nodes_modes=(tensor(model["nodes_modes"], "uint8"),),
        nodes_splits=(tensor(model["nodes_splits"]),),
        nodes_trueleafs=(model["nodes_trueleafs"],),
        nodes_truenodeids=(model["nodes_truenodeids"],),
        tree_roots=(model["tree_roots"],),
        **given,
    )(tree_ensemble)


def one_target(tree: int, leaf: int) -> dict[int, float]:
    """Every leaf votes for the only target."""
    return {0: told_apart(tree, leaf)}


def target_by_leaf(tree: int, leaf: int) -> dict[int, float]:
    """The leaves of a tree vote for different ones of three targets; small weights."""
    return {(tree + leaf) % 3: told_apart(tree, leaf) / 64}


def target_by_tree(tree: int, leaf: int) -> dict[int, float]:
    """All leaves of a tree vote for one of two targets."""
    return {tree % 2: told_apart(tree, leaf)}


def likely(_: int, leaf: int) -> dict[int, float]:
    """Weights for two targets, whose sums are between 0 and 1."""
    return {target: (1 + leaf + target) / 32 for target in (0, 1)}


def likely_alone(tree: int, leaf: int) -> dict[int, float]:
    """As ``likely``, for one target."""
    return {0: likely(tree, leaf)[0]}


def only_float(T: str) -> bool:
    """Where types are not the point."""
    return T == FLOAT


NEWEST = (
    declare_newest(
        forest(one_target, members=True),
        1,
        exact=True,
        whole_model=True,
        aggregate_function=(OMITTED, 0, 1, 2, 3),
        post_transform=(OMITTED, 0),
        constraints=[
            lambda T, post_transform: post_transform == OMITTED or T == FLOAT,
            lambda aggregate_function, nodes_hitrates: nodes_hitrates is OMITTED or aggregate_function == OMITTED,
            lambda post_transform, nodes_hitrates: nodes_hitrates is OMITTED or post_transform == OMITTED,
        ],
    ),
    declare_newest(forest(target_by_leaf), 3, exact=True),
    declare_newest(forest(target_by_tree), 2, exact=True, aggregate_function=(2, 3)),
    declare_newest(forest(target_by_leaf), 3, exact=False, post_transform=(1, 2)),
    declare_newest(forest(likely_alone), 1, exact=False, post_transform=(3, 4), constraints=[only_float]),
)
"""Without ``nodes_missing_value_tracks_true`` NaN follows the false branch everywhere."""
register(*NEWEST)
declare_newest(forest(target_by_leaf), 3, exact=False, aggregate_function=(0, 2, 3), constraints=[only_float]).inputs(
    unspecified=f"TreeEnsemble-5, {NO_VOTES}"
)(ordinary)


# TreeEnsembleClassifier and TreeEnsembleRegressor

LABELS: Final[dict[str, tuple[str, list[Any]]]] = {
    "classlabels_int64s": ("tensor(int64)", [7, -2, 2**53 + 1]),
    "classlabels_strings": ("tensor(string)", [b"cat", "Grüße".encode(), b""]),
}
AS_TENSOR: Final = ("base_values", "nodes_hitrates", "nodes_values")


def declare_by_nodes(
    name: str,
    since: Sequence[int],
    trees: Sequence[Tree],
    *,
    exact: bool,
    whole_model: bool = False,
    as_tensors: bool = False,
    first_node: Sequence[int] = (),
    **pools: Any,
) -> Operator:
    """Declares an operator of the older form with a model, the lists of floats as tensors of doubles if asked for."""
    votes = "class" if name.endswith("Classifier") else "target"
    model: dict[str, Any] = by_nodes(trees, votes, first_node=first_node)
    if not whole_model:
        del model["nodes_hitrates"], model["nodes_missing_value_tracks_true"]
    given: dict[str, Any] = {key: (value,) for key, value in model.items()}
    given |= {"post_transform": (OMITTED,), "base_values": (OMITTED,), **pools}
    for key in (*AS_TENSOR, f"{votes}_weights"):
        values, of_tensor = given.get(key, (OMITTED,)), f"{key}_as_tensor"
        if 3 in since:
            given[of_tensor] = (OMITTED,)
        if as_tensors and values != (OMITTED,):
            given[key] = (OMITTED,)
            given[of_tensor] = tuple(OMITTED if one is OMITTED else tensor(one, "double") for one in values)
    for key in ("nodes_hitrates", "nodes_missing_value_tracks_true"):
        given.setdefault(key, (OMITTED,))
    oracle = tree_ensemble_classifier if votes == "class" else tree_ensemble_regressor
    return operator(name, domain=ML, since=since, exact=exact, full_product=True, **given)(oracle)


def declare_classifier(trees: Sequence[Tree], classes: int, since: Sequence[int] = (3, 1), **options: Any) -> Operator:
    """Declares the classifier with a model of so many classes."""

    def labels(of: str, values: list[Any]) -> Callable[[Types], Any]:
        return lambda types: values[:classes] if types["T2"] == of else OMITTED

    pools = {name: (labels(*of),) for name, of in LABELS.items()}
    return declare_by_nodes("TreeEnsembleClassifier", since, trees, **pools, **options)


def class_by_leaf(tree: int, leaf: int) -> dict[int, float]:
    """A vote for one of three classes, or for two of them.

    The sums for different classes have different fractions, so that none are equal.
    """
    first = (tree + leaf) % 3
    votes = {first: 1.0 + leaf + 4.0**first / 64}
    if leaf % 2:
        second = (first + 1) % 3
        votes[second] = tree - 2.0 + 4.0**second / 64
    return votes


def two_classes(tree: int, leaf: int) -> dict[int, float]:
    """Votes for both of two classes, some of them negative."""
    return {0: leaf - 1.0 + 1 / 64, 1: 1.5 - tree + 4 / 64}


def second_class(tree: int, leaf: int) -> dict[int, float]:
    """Votes for the second of two classes alone."""
    return {1: told_apart(tree, leaf) / 64}


BASE: Final = [0.5 + 1 / 256, -1.0 + 2 / 256, 0.25 + 3 / 256]
MIDDLE: Final = [0.25 + 1 / 256, 0.25 + 2 / 256, 0.25 + 3 / 256]
BINARY = (
    'Z: "The class score for each class, for each point". Whether a class without votes has a score of 0 where there '
    "are two and all votes are for one, or the rest of the other's, is not said."
)


def class_likely(tree: int, leaf: int) -> dict[int, float]:
    """Small votes for one of three classes."""
    first = (tree + leaf) % 3
    return {first: (1 + leaf) / 32 + 4.0**first / 2048}


def in_one_type(T1: str, T2: str) -> bool:
    """Where types are not the point."""
    return (T1, T2) == (FLOAT, "tensor(int64)")


CLASSIFIERS = (
    declare_classifier(
        forest(class_by_leaf),
        3,
        exact=True,
        whole_model=True,
        first_node=(0, 7, 0, 3),
        base_values=(OMITTED, BASE),
        post_transform=NONE,
        constraints=[
            lambda T1, T2, post_transform: post_transform == OMITTED or in_one_type(T1, T2),
            lambda T1, T2, base_values: base_values is OMITTED or T2 == "tensor(int64)" or T1 == FLOAT,
        ],
    ),
    declare_classifier(forest(two_classes), 2, exact=True, constraints=[in_one_type]),
    declare_classifier(
        forest(class_by_leaf),
        3,
        exact=False,
        post_transform=("SOFTMAX", "LOGISTIC"),
        constraints=[lambda T2: T2 == "tensor(int64)"],
    ),
    declare_classifier(
        forest(class_likely),
        3,
        exact=False,
        base_values=(MIDDLE,),
        post_transform=("SOFTMAX_ZERO", "PROBIT"),
        constraints=[in_one_type],
    ),
)
register(*CLASSIFIERS)
declare_classifier(forest(second_class), 2, exact=True, constraints=[in_one_type]).inputs(
    unspecified=f"TreeEnsembleClassifier-3, {BINARY}"
)(ordinary)


def declare_regressor(votes: Callable[[int, int], dict[int, float]], targets: int, **options: Any) -> Operator:
    """Declares the regressor with a model of so many targets."""
    given: dict[str, Any] = {"aggregate_function": (OMITTED,), "since": (3, 1), "trees": forest(votes), **options}
    return declare_by_nodes("TreeEnsembleRegressor", n_targets=(targets,), **given)


def both_targets(tree: int, leaf: int) -> dict[int, float]:
    """Every leaf votes for both targets."""
    return {1: told_apart(tree, 3 - leaf) / 64, 0: told_apart(tree, leaf) / 64}


ALL = (OMITTED, "AVERAGE", "SUM", "MIN", "MAX")
REGRESSORS = (
    declare_regressor(
        both_targets,
        2,
        exact=True,
        whole_model=True,
        aggregate_function=ALL,
        base_values=(OMITTED, [0.5, -1.25]),
        post_transform=NONE,
        constraints=[
            lambda T, base_values: base_values is OMITTED or T == FLOAT,
            lambda T, aggregate_function, post_transform: (
                post_transform == OMITTED or (T == FLOAT and aggregate_function == OMITTED)
            ),
        ],
    ),
    declare_regressor(
        one_target, 1, exact=True, aggregate_function=(OMITTED, "AVERAGE", "MIN"), constraints=[only_float]
    ),
    declare_regressor(target_by_leaf, 3, exact=True, constraints=[lambda T: T in (FLOAT, "tensor(int64)")]),
    declare_regressor(both_targets, 2, exact=False, post_transform=("SOFTMAX", "LOGISTIC")),
    declare_regressor(
        likely,
        2,
        exact=False,
        base_values=([0.25, 0.25],),
        post_transform=("SOFTMAX_ZERO", "PROBIT"),
        constraints=[only_float],
    ),
)
register(*REGRESSORS)
declare_regressor(
    target_by_leaf, 3, exact=False, aggregate_function=ALL[1:2] + ALL[3:], constraints=[only_float]
).inputs(unspecified=f"TreeEnsembleRegressor-3, {NO_VOTES}")(ordinary)


# Tensors of doubles

TENTH, THIRD = 0.1, 1 / 3
"""No floats: one is below its nearest float, the other too."""


def in_doubles(votes: Callable[[int, int], dict[int, float]]) -> tuple[Tree, ...]:
    """Trees that compare with what is no float."""

    def leaf(tree: int, number: int) -> Leaf:
        return Leaf(votes(tree, number))

    return (
        Branch(0, "LEQ", TENTH, leaf(0, 0), Branch(1, "LT", THIRD, leaf(0, 1), leaf(0, 2))),
        Branch(2, "GTE", -TENTH, Branch(1, "EQ", THIRD, leaf(1, 0), leaf(1, 1), nan_is_true=True), leaf(1, 2)),
    )


def at_doubles(draw: Draw) -> Iterator[Sample]:
    """Features at the thresholds, at the neighbours that these have among the doubles, and at their nearest floats."""
    for _ in range(2):
        columns = []
        for at in (TENTH, THIRD, -TENTH):
            near = [at, np.nextafter(at, -1), np.nextafter(at, 1), float(np.float32(at)), 0.0, 2 * at]
            columns.append([near[draw.integer(0, len(near) - 1)] for _ in range(ROWS)])
        yield Sample({"X": np.array(columns).T.copy()})


for one in (
    declare_classifier(
        in_doubles(class_by_leaf),
        3,
        (3,),
        exact=True,
        whole_model=True,
        as_tensors=True,
        base_values=(OMITTED, BASE),
        constraints=[lambda T1: T1 == DOUBLE],
    ),
    declare_regressor(
        both_targets,
        2,
        since=(3,),
        trees=in_doubles(both_targets),
        exact=True,
        whole_model=True,
        as_tensors=True,
        aggregate_function=ALL,
        base_values=(OMITTED, [0.5, -1.25]),
        constraints=[lambda T: T == DOUBLE],
    ),
):
    one.inputs()(at_doubles)
