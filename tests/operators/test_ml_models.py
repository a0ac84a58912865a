"""Linear models, support vector machines and trees: literal models, and what their groups must catch."""

from typing import Any

import numpy as np
import onnx
import pytest

import harness.operators.traditionalml.tree_ensemble as ensembles
from harness.numbers.balls import are_balls
from harness.operators.traditionalml.tree_ensemble import is_true
from harness.operators.traditionalml.tree_ensemble_models import NEWEST, not_a_number, ordinary
from harness.operators.traditionalml.trees import TRIED, Branch, Leaf, by_leaves, by_nodes, forest, told_apart
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, Sample, operators
from harness.suite.planning import plan

ML = "ai.onnx.ml"
X = np.array([[1, 2], [-1, 0.5]], np.float32)


def declared(op: str) -> list[Operator]:
    return [one for one in operators() if (one.name, one.domain) == (op, ML)]


def of(op: str, x: np.ndarray, types: dict[str, str], since: int = 1, **attributes: Any) -> list[Any]:
    one = next(one for one in declared(op) if since in one.since)
    version = one.schemas[one.since.index(since)]
    types = {variable: f"tensor({name})" for variable, name in types.items()}
    outputs = answer(Call(one, version, types, {"X": x}, attributes))
    values = [output.value for output in outputs]
    assert all(isinstance(value, np.ndarray) for value in values)
    return values


def test_linear_regressor_has_its_coefficients_target_by_target():
    (y,) = of("LinearRegressor", X, {"T": "float"}, coefficients=[1.0, 10.0, 100.0, 0.0], targets=2)
    assert (y.dtype, y.tolist()) == (np.float32, [[21, 100], [4, -100]])
    (y,) = of("LinearRegressor", X, {"T": "float"}, coefficients=[1.0, 10.0], intercepts=[0.5])
    assert y.tolist() == [[21.5], [4.5]]
    (y,) = of("LinearRegressor", X[:1], {"T": "float"}, coefficients=[0.0, 0.0], post_transform="LOGISTIC")
    assert y.tolist() == [[0.5]]


def test_linear_classifier_labels_the_greatest_score():
    model: dict[str, Any] = {"coefficients": [1.0, 0.0, 0.0, 1.0, -1.0, -1.0], "intercepts": [0.0, 0.0, 0.25]}
    y, z = of("LinearClassifier", X, {"T1": "float", "T2": "string"}, classlabels_strings=[b"a", b"", b"c"], **model)
    assert (y.tolist(), z.tolist()) == (["", "c"], [[1, 2, -2.75], [-1, 0.5, 0.75]])
    y, z = of(
        "LinearClassifier",
        np.array([3, 1]),
        {"T1": "int64", "T2": "int64"},
        classlabels_ints=[7, -2, 5],
        post_transform="SOFTMAX",
        **model,
    )
    assert (y.shape, z.shape, y.tolist()) == ((1,), (1, 3), [7])
    assert z[0].tolist() == pytest.approx(np.exp([3, 1, -3.75]) / np.exp([3, 1, -3.75]).sum())


def test_svm_regressor_sums_its_kernels():
    model: dict[str, Any] = {
        "support_vectors": [1.0, 0.0, 0.0, 2.0],
        "coefficients": [3.0, -1.0],
        "n_supports": 2,
        "rho": [0.0],
    }
    (y,) = of("SVMRegressor", X, {"T": "float"}, **model)
    assert y.tolist() == [[3 * 1 - 4], [3 * -1 - 1]]
    poly: dict[str, Any] = {"kernel_type": "POLY", "kernel_params": [0.5, 1.0, 2.0]}
    (y,) = of("SVMRegressor", X[:1], {"T": "float"}, **model, **poly)
    assert y.tolist() == [[3 * 1.5**2 - 3.0**2]]
    rbf: dict[str, Any] = {"kernel_type": "RBF", "kernel_params": [0.25, 0.0, 0.0]}
    (y,) = of("SVMRegressor", X[:1], {"T": "float"}, **model, **rbf)
    assert y.tolist() == [pytest.approx([3 * np.exp(-1.0) - np.exp(-0.25)])]
    sigmoid: dict[str, Any] = {"kernel_type": "SIGMOID", "kernel_params": [0.5, -1.0, 0.0]}
    (y,) = of("SVMRegressor", X[:1], {"T": "float"}, **model, **sigmoid)
    assert y.tolist() == [pytest.approx([3 * np.tanh(-0.5) - np.tanh(1.0)])]


def test_transforms_are_real_where_they_round():
    one = next(one for one in declared("LinearRegressor") if not one.exact)
    attributes = {name: pool[0] for name, pool in one.attributes.items()}
    x = np.array([[0.5, 0.25, -1, 2]], np.float32)
    (y,) = expected(Call(one, one.schemas[0], {"T": "tensor(float)"}, {"X": x}, attributes))
    assert y.bound is not None
    assert not are_balls(y.bound)
    assert (y.bound > 0).all()


def test_nan_goes_where_the_node_says_and_nowhere_else():
    for mode in ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ"):
        assert [is_true(mode, float("nan"), 1.0, flag) for flag in (0, 1)] == [False, True]
    assert not is_true("MEMBER", float("nan"), [1.0], 0)
    truth = {"LEQ": (1, 1, 0), "LT": (1, 0, 0), "GTE": (0, 1, 1), "GT": (0, 0, 1), "EQ": (0, 1, 0), "NEQ": (1, 0, 1)}
    for mode, gives in truth.items():
        assert tuple(is_true(mode, x, 1.0, 1) for x in (0.5, 1.0, 1.5)) == gives
    assert is_true("EQ", -0.0, 0.0, 0)


MODEL: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0, 1],
    "nodes_nodeids": [0, 1, 2, 0],
    "nodes_featureids": [1, 0, 0, 0],
    "nodes_modes": [b"BRANCH_LEQ", b"LEAF", b"LEAF", b"LEAF"],
    "nodes_values": [0.5, 0.0, 0.0, 0.0],
    "nodes_truenodeids": [1, 0, 0, 0],
    "nodes_falsenodeids": [2, 0, 0, 0],
}
"""A comparison of the second feature, and a tree that is a leaf."""


def voted(prefix: str) -> dict[str, Any]:
    columns = {"treeids": [0, 0, 0, 1], "nodeids": [1, 2, 2, 0], "ids": [0, 1, 0, 1], "weights": [4.0, 8.0, 1.0, 2.0]}
    return MODEL | {f"{prefix}_{name}": column for name, column in columns.items()}


@pytest.mark.parametrize("since", [1, 3])
def test_tree_ensemble_regressor_aggregates_by_target_and_then_adds_the_base(since: int):
    def run(**attributes: Any) -> Any:
        return of("TreeEnsembleRegressor", X, {"T": "float"}, since, **voted("target"), n_targets=2, **attributes)[
            0
        ].tolist()

    assert run() == [[1, 10], [4, 2]]
    assert run(aggregate_function="MIN", base_values=[0.5, -1.0]) == [[1.5, 1], [4.5, 1]]
    assert run(aggregate_function="MAX") == [[1, 8], [4, 2]]
    assert run(aggregate_function="AVERAGE")[0][1] == 5


@pytest.mark.parametrize("since", [1, 3])
def test_tree_ensemble_classifier_sums_votes_and_takes_the_top(since: int):
    y, z = of(
        "TreeEnsembleClassifier",
        X,
        {"T1": "float", "T2": "string"},
        since,
        **voted("class"),
        classlabels_strings=[b"no", b"yes"],
    )
    assert (y.tolist(), z.tolist()) == (["yes", "no"], [[1, 10], [4, 2]])
    y, z = of(
        "TreeEnsembleClassifier",
        X,
        {"T1": "float", "T2": "int64"},
        since,
        **voted("class"),
        classlabels_int64s=[5, 6, 7],
        base_values=[0.0, -20.0, 3.5],
    )
    assert (y.tolist(), z.tolist()) == ([7, 5], [[1, -10, 3.5], [4, -18, 3.5]])


def test_doubles_are_compared_as_doubles():
    def tensor(*values: float) -> onnx.TensorProto:
        return onnx.helper.make_tensor("value", onnx.TensorProto.DOUBLE, [len(values)], values)

    model = voted("target")
    del model["nodes_values"], model["target_weights"]
    model["nodes_values_as_tensor"] = tensor(0.1, 0, 0, 0)
    model["target_weights_as_tensor"] = tensor(4, 8, 1, 2)
    x = np.array([[0, 0.1], [0, np.nextafter(0.1, 1)]])
    (y,) = of("TreeEnsembleRegressor", x, {"T": "double"}, 3, **model, n_targets=2)
    assert y.tolist() == [[4, 2], [1, 10]]


def newest(x: np.ndarray, **changed: Any) -> list[Any]:
    """A tree with a set, below it a comparison written first, and a tree that is a leaf."""

    def tensor(of: int, values: Any) -> onnx.TensorProto:
        return onnx.helper.make_tensor("value", of, [len(values)], values)

    model: dict[str, Any] = {
        "tree_roots": [1, 2],
        "nodes_modes": tensor(onnx.TensorProto.UINT8, [6, 6, 0]),
        "nodes_featureids": [0, 0, 0],
        "nodes_splits": tensor(onnx.TensorProto.FLOAT, [0, 0, 0]),
        "membership_values": tensor(onnx.TensorProto.FLOAT, [5, np.nan, 0, 2, np.nan]),
        "nodes_truenodeids": [1, 0, 3],
        "nodes_trueleafs": [1, 1, 1],
        "nodes_falsenodeids": [2, 0, 3],
        "nodes_falseleafs": [1, 0, 1],
        "leaf_targetids": [0, 0, 1, 1],
        "leaf_weights": tensor(onnx.TensorProto.FLOAT, [1, 2, 4, 8]),
        "n_targets": 2,
    }
    return of("TreeEnsemble", x, {"T": "float"}, 5, **(model | changed))[0].tolist()


def test_tree_ensemble_reads_members_in_the_order_of_the_nodes():
    x = np.array([[0], [2], [5], [1], [np.nan]], np.float32)
    assert newest(x) == [[1, 8], [1, 8], [2, 8], [0, 12], [0, 12]]
    assert newest(x[4:], nodes_missing_value_tracks_true=[0, 1, 0]) == [[1, 8]]
    assert newest(x[3:4], aggregate_function=2) == [[0, 4]]
    assert newest(x[3:4], aggregate_function=3) == [[0, 8]]


def test_numbers_of_transforms_are_those_of_the_text():
    x = np.array([[5]], np.float32)
    powers = np.exp([2, 8])
    assert newest(x, post_transform=1) == [pytest.approx(powers / powers.sum())]
    assert newest(x, post_transform=2) == [pytest.approx(1 / (1 + 1 / powers))]


def test_trees_are_written_as_the_texts_have_them():
    tree = Branch(3, "LT", 1.5, Leaf({0: 1.0}), Branch(0, "EQ", 2.0, Leaf({1: 2.0}), Leaf({0: 4.0, 1: 8.0}), True))
    found = by_nodes([Leaf({0: 16.0}), tree], "target", first_node=(0, 5))
    assert {name: found[name] for name in MODEL} == {
        "nodes_treeids": [0, 1, 1, 1, 1, 1],
        "nodes_nodeids": [0, 5, 6, 7, 8, 9],
        "nodes_featureids": [0, 3, 0, 0, 0, 0],
        "nodes_modes": [b"LEAF", b"BRANCH_LT", b"LEAF", b"BRANCH_EQ", b"LEAF", b"LEAF"],
        "nodes_values": [0.0, 1.5, 0.0, 2.0, 0.0, 0.0],
        "nodes_truenodeids": [0, 6, 0, 8, 0, 0],
        "nodes_falsenodeids": [0, 7, 0, 9, 0, 0],
    }
    assert found["target_nodeids"] == [0, 6, 8, 9, 9]
    assert (found["target_ids"], found["target_weights"]) == ([0, 0, 1, 0, 1], [16, 1, 2, 4, 8])
    small = by_leaves([Branch(1, "MEMBER", (3.0,), Leaf({0: 1.0}), Leaf({0: 2.0})), Leaf({1: 4.0})])
    assert (small["tree_roots"], small["nodes_modes"]) == ([0, 1], [6, 0])
    assert (small["nodes_truenodeids"], small["nodes_falsenodeids"]) == ([0, 2], [1, 2])
    assert small["nodes_trueleafs"] == small["nodes_falseleafs"] == [1, 1]
    assert small["membership_values"][0] == 3.0
    assert np.isnan(small["membership_values"][1])


def test_every_sum_over_the_forest_tells_the_leaves():
    sums = {sum(told_apart(tree, leaf) for tree, leaf in enumerate(leaves)) for leaves in np.ndindex(4, 4, 4, 1)}
    assert len(sums) == 64


def reached(group: Any) -> set[tuple[int, ...]]:
    """The features at the values that they are compared with, in the rows of a group for some types."""
    found: set[tuple[int, ...]] = set()
    for of in ("float", "double", "float16"):
        draw = Draw(f"test/{of}", {"T": f"tensor({of})"}, {"post_transform": OMITTED})
        for drawn in group(draw):
            for i, places in enumerate(TRIED):
                found |= {(i, j) for j, place in enumerate(places) if place in drawn.inputs["X"][:, i]}
    return found


def test_ordinary_examples_meet_every_threshold():
    assert reached(ordinary) == {(i, j) for i, places in enumerate(TRIED) for j in range(len(places))}


def scores(x: np.ndarray) -> Any:
    one = NEWEST[0]
    (row, *_) = [row for row in plan(one, one.schemas[0]).rows if row.types["T"] == "tensor(float)"]
    return answer(Call(one, one.schemas[0], row.types, {"X": x}, row.attributes))[0].value


def by_comparison(mode: str, x: Any, value: Any, nan_is_true: int) -> bool:
    """What a kernel does that compares first and asks for NaN then."""
    held = bool(ensembles.COMPARISONS[mode](x, value))
    return held or (bool(nan_is_true) and bool(np.isnan(x)))


def by_rounding(mode: str, x: Any, value: Any, nan_is_true: int) -> bool:
    """What a kernel does that keeps a set of integers."""
    return is_true(mode, np.trunc(x) if mode == "MEMBER" else x, value, nan_is_true)


@pytest.mark.parametrize(
    ("group", "planted"), [(not_a_number, by_comparison), (ordinary, by_rounding)], ids=["nan", "members"]
)
def test_groups_of_the_trees_catch_what_kernels_do(group: Any, planted: Any, monkeypatch: pytest.MonkeyPatch):
    draw = Draw("test", {"T": "tensor(float)"}, {"post_transform": OMITTED})
    inputs = [drawn.inputs["X"] for drawn in group(draw)]
    right = [scores(x) for x in inputs]
    monkeypatch.setattr(ensembles, "is_true", planted)
    assert any(not np.array_equal(scores(x), y) for x, y in zip(inputs, right, strict=True))


def test_the_forest_has_every_mode():
    modes = set(by_leaves(forest(lambda tree, leaf: {0: told_apart(tree, leaf)}, members=True))["nodes_modes"])
    assert modes == set(range(7))


@pytest.mark.parametrize("op", ["LinearClassifier", "TreeEnsembleClassifier"])
def test_no_two_top_scores_are_equal_where_answers_count(op: str):
    for one in declared(op):
        version = one.schemas[0]
        for row in (row for row in plan(one, version, "each").rows if not row.group.unspecified):
            for drawn in row.group.generate(Draw("test", row.types, row.attributes)):
                assert isinstance(drawn, Sample)
                if not drawn.unspecified:
                    _, z = answer(Call(one, version, row.types, drawn.inputs, row.attributes))
                    ordered = np.sort(np.asarray(z.value), axis=1)
                    assert (ordered[:, -1] > ordered[:, -2]).all()
