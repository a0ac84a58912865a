"""The reductions, ArgMax, ArgMin, CumSum and TopK, held against literal values that follow from their documents."""

from typing import Any

import numpy as np
import pytest

from harness.oracles.draw import Draw
from harness.oracles.evaluate import Expected, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Sample, find
from harness.spec.element_types import element_type
from harness.spec.schema import schema

INF = np.inf
ROWS = [[1.0, -2.0, 2.0], [0.5, 2.0, 4.0]]


def outputs(op: str, since: int, *inputs: Any, **attributes: Any) -> tuple[Expected, ...]:
    version = schema(op, since)
    given = dict(zip((p.name for p in version.inputs), map(np.asarray, inputs), strict=False))
    types = {"T": f"tensor({element_type(np.asarray(inputs[0]).dtype).name})", "T2": "tensor(int64)"}
    types |= {"I": "tensor(int64)"} if op == "TopK" else {}
    return expected(Call(find(op, since), version, types, given, attributes))


def value(*arguments: Any, **attributes: Any) -> Any:
    return outputs(*arguments, **attributes)[0].value.tolist()


@pytest.mark.parametrize(
    ("op", "since", "rows"),
    [
        ("ReduceSum", 13, [1.0, 6.5]),
        ("ReduceMean", 18, [1 / 3, 6.5 / 3]),
        ("ReduceProd", 18, [-4.0, 4.0]),
        ("ReduceMax", 20, [2.0, 4.0]),
        ("ReduceMin", 20, [-2.0, 0.5]),
        ("ReduceL1", 18, [5.0, 6.5]),
        ("ReduceL2", 18, [3.0, 4.5]),
        ("ReduceSumSquare", 18, [9.0, 20.25]),
        ("ReduceLogSum", 28, [0.0, np.log(6.5)]),
    ],
)
def test_each_reduces_its_rows(op: str, since: int, rows: list[float]):
    assert value(op, since, ROWS, [1], keepdims=0) == rows
    assert value(op, since, ROWS, [-1]) == [[v] for v in rows]
    assert value(op, 1, ROWS, axes=[1], keepdims=0) == rows


def test_axes_in_any_order_and_without_any():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert (
        value("ReduceSum", 13, x, [2, 0], keepdims=0)
        == value("ReduceSum", 13, x, [-3, -1], keepdims=0)
        == [60, 92, 124]
    )
    assert value("ReduceSum", 13, x) == value("ReduceSum", 11, x) == [[[276.0]]]


@pytest.mark.parametrize(
    ("op", "of_three"),
    [
        ("ReduceSum", 3.0),
        ("ReduceMean", 3.0),
        ("ReduceL1", 3.0),
        ("ReduceSumSquare", 9.0),
        ("ReduceLogSum", np.log(3.0)),
    ],
)
def test_a_reduction_over_no_axes_leaves_the_other_steps(op: str, of_three: float):
    since = 13 if op == "ReduceSum" else 18
    for axes in ([], [np.array([], np.int64)]):
        assert value(op, since, [[3.0, 3.0]], *axes, noop_with_empty_axes=1, keepdims=0) == [[of_three, of_three]]


@pytest.mark.parametrize(
    ("op", "of_nothing"),
    [
        ("ReduceSum", 0),
        ("ReduceProd", 1),
        ("ReduceMax", -INF),
        ("ReduceMin", INF),
        ("ReduceL2", 0),
        ("ReduceLogSum", -INF),
    ],
)
def test_a_reduction_of_nothing(op: str, of_nothing: float):
    assert value(op, 13, np.zeros((2, 0), np.float16), *([[0, 1]] if op == "ReduceSum" else [])) == [[of_nothing]]


def test_extremes_of_nothing_in_integers_and_booleans():
    assert value("ReduceMax", 20, np.zeros((0, 1), np.int8), [0]) == [[-128]]
    assert value("ReduceMin", 20, np.zeros((0, 1), np.uint8), [0]) == [[255]]
    assert value("ReduceMax", 20, np.zeros((0, 1), bool), [0]) == [[False]]
    assert value("ReduceMin", 20, np.array([[True, False], [True, True]]), [0]) == [[True, False]]


def test_the_result_alone_has_to_fit():
    assert value("ReduceMean", 18, np.full((1, 3), 65504, np.float16), [1]) == [[65504]]
    assert value("ReduceLogSumExp", 18, np.array([[100, -INF]], np.float16), [1]) == [[100]]
    assert value("ReduceLogSumExp", 18, np.full((1, 2), -INF, np.float32), [1]) == [[-INF]]
    assert value("ReduceMean", 18, np.array([2**63 - 1, 2**63 - 3]), [0]) == [2**63 - 2]


def test_arg_takes_the_first_of_equals_or_the_last():
    x = [[2, 5, 5], [7, 1, 7]]
    assert value("ArgMax", 13, x, axis=1, keepdims=0) == [1, 0]
    assert value("ArgMax", 13, x, axis=-1, select_last_index=1) == [[2], [2]]
    assert value("ArgMin", 13, x) == [[0, 1, 0]]
    assert value("ArgMin", 1, x, axis=1, keepdims=0) == [0, 1]


@pytest.mark.parametrize(
    ("attributes", "gives"),
    [
        ({}, [1, 3, 6]),
        ({"exclusive": 1}, [0, 1, 3]),
        ({"reverse": 1}, [6, 5, 3]),
        ({"exclusive": 1, "reverse": 1}, [5, 3, 0]),
    ],
)
@pytest.mark.parametrize("since", [11, 14])
def test_cumsum_as_in_its_document(since: int, attributes: dict[str, int], gives: list[int]):
    assert value("CumSum", since, [1, 2, 3], 0, **attributes) == gives


def test_topk_takes_the_lower_index_first():
    x = [[1.0, 3.0, 3.0, 2.0], [0.0, -0.0, -1.0, -2.0]]
    for since, arguments, attributes in ((1, (), {"k": 3}), (10, ([3],), {}), (24, ([3],), {})):
        values, indices = outputs("TopK", since, x, *arguments, axis=1, **attributes)
        assert values.value.tolist() == [[3, 3, 2], [0, 0, -1]]
        assert indices.value.tolist() == [[1, 2, 3], [0, 1, 2]]
    values, indices = outputs("TopK", 11, x, [1], axis=0, largest=0)
    assert (values.value.tolist(), indices.value.tolist()) == ([[0, 0, -1, -2]], [[1, 1, 1, 1]])


@pytest.mark.parametrize(
    ("op", "since", "group", "of"),
    [
        ("ReduceMax", 20, "nan", "float"),
        ("ReduceMean", 18, "empty", "double"),
        ("ReduceMean", 18, "inexact_integers", "int32"),
        ("ReduceSum", 13, "large_integers", "uint64"),
        ("ReduceL2", 18, "overflow_halfway", "float16"),
        ("ArgMin", 13, "nan", "bfloat16"),
        ("TopK", 24, "nan", "float"),
        ("CumSum", 14, "range_ends", "int32"),
    ],
)
def test_what_the_documents_leave_open_is_unspecified_and_the_rest_is_not(op: str, since: int, group: str, of: str):
    operator = find(op, since)
    (generate,) = [g.generate for g in operator.groups if g.name == group]
    types = {"T": f"tensor({of})", "T2": "tensor(int64)"}
    draw = Draw("seed", types, {a.name: OMITTED for a in schema(op, since).attributes})
    unspecified = [isinstance(drawn, Sample) and bool(drawn.unspecified) for drawn in generate(draw)]
    assert any(unspecified)
    assert not all(unspecified)
