"""Models of one node: what of the graph's values are the node's, how variadic ones are called, what keeps its place."""

from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from harness.operators.controlflow.graphs import graph
from harness.oracles.operator import OMITTED, Group, Sample, find
from harness.spec.codec import decode
from harness.spec.schema import schema
from harness.spec.values import Typed, parse_type
from harness.suite.build import build_rows
from harness.suite.cases import Built
from harness.suite.planning import Row

FLOAT, INT64, BOOL = "tensor(float)", "tensor(int64)", "tensor(bool)"


def built(op: str, since: int, types: dict[str, str], attributes: dict[str, Any], *sets: Sample) -> Built:
    one = find(op, since)
    assert one
    version = schema(op, since)
    group = Group("tried", "As it comes.", lambda _: sets, {}, "")
    given = {a.name: attributes.get(a.name, OMITTED) for a in version.attributes}
    (found,) = build_rows(one, version, [Row(types, given, group)])
    return found


def model(of: Built) -> onnx.GraphProto:
    return onnx.load_from_string(of.files["model.onnx"]).graph


def value(of: Built, file: str, type_: str) -> Any:
    return decode(of.files[f"test_data_set_0/{file}.pb"], parse_type(type_))


def test_what_graphs_see_from_outside_is_fed_and_not_the_nodes():
    body = graph("same", {}, {"y": FLOAT}, "y = Identity (x)")
    x = np.array([1, 2], np.float32)
    drawn = Sample({"cond": np.array(True)}, outer={"x": Typed(parse_type(FLOAT), x)})
    one = built("If", 25, {"V": FLOAT, "B": BOOL}, {"then_branch": body, "else_branch": body}, drawn)
    assert [info.name for info in model(one).input] == ["cond", "x"]
    assert list(model(one).node[0].input) == ["cond"]
    assert one.case.inputs == (BOOL, FLOAT)
    assert value(one, "output_0", FLOAT).tolist() == [1, 2]
    assert one.case.labels.attributes == {"then_branch": "same", "else_branch": "same"}
    assert one.case.name == "test_if_25_float_bool_else_branch_same_then_branch_same_scalar_x_float_2"


def test_the_outputs_of_a_variadic_parameter_are_counted():
    drawn = Sample({"input": np.arange(5, dtype=np.float32), "split": np.array([2, 3])})
    one = built("Split", 18, {"T": FLOAT}, {}, drawn)
    assert list(model(one).node[0].output) == ["outputs_0", "outputs_1"]
    assert [dim.dim_value for info in model(one).output for dim in info.type.tensor_type.shape.dim] == [2, 3]
    stated = built("Split", 13, {"T": FLOAT}, {}, Sample({"input": np.zeros(6, np.float32)}, outputs=3))
    assert len(model(stated).output) == 3
    assert stated.case.name.endswith("_3_outputs")


@pytest.mark.parametrize(("since", "places"), [(25, ["M", ""])])
def test_what_stands_before_a_variadic_parameter_keeps_its_place(since: int, places: list[str]):
    """Loop has at least two inputs (``OpSchema.min_input``), though both may be left out."""
    body = graph("count", {"i": INT64, "c": BOOL}, {"c": BOOL, "n": (INT64, ())}, "n = Identity (i)")
    drawn = Sample({"M": np.array(2), "v_initial": ()})
    one = built("Loop", since, {"V": INT64, "I": INT64, "B": BOOL}, {"body": body}, drawn)
    assert list(model(one).node[0].input) == places
    assert onnx.defs.get_schema("Loop", since, "").min_input == len(places)
    assert value(one, "output_0", INT64).tolist() == [0, 1]


def test_a_value_of_another_type_than_its_parameter_bears_it():
    body = graph(
        "pass",
        {"i": INT64, "c": BOOL, "a": FLOAT, "b": INT64},
        {"c": BOOL, "a_out": FLOAT, "b_out": INT64},
        "a_out = Identity (a)",
        "b_out = Identity (b)",
    )
    values = (np.zeros(2, np.float32), Typed(parse_type(INT64), np.array(7)))
    drawn = Sample({"M": np.array(1), "v_initial": values})
    one = built("Loop", 25, {"V": FLOAT, "I": INT64, "B": BOOL}, {"body": body}, drawn)
    assert one.case.inputs == (INT64, FLOAT, INT64)
    assert one.case.outputs == (FLOAT, INT64)
    assert "_2_int64_scalar" in one.case.name


def test_structured_values_have_files_of_their_own_kind():
    types = {"S": f"seq({FLOAT})", "T": FLOAT}
    tensors = (np.zeros(2, np.float32), np.ones((1, 3), np.float32))
    one = built("SequenceConstruct", 11, types, {}, Sample({"inputs": tensors}))
    assert [v.shape for v in value(one, "output_0", types["S"])] == [(2,), (1, 3)]
    assert one.case.data_sets[0].elements == 5
    absent = built("OptionalHasElement", 18, {"O": f"optional({FLOAT})", "B": BOOL}, {}, Sample({"input": None}))
    left_out = built("OptionalHasElement", 18, {"O": f"optional({FLOAT})", "B": BOOL}, {}, Sample({}))
    assert value(absent, "input_0", f"optional({FLOAT})") is None
    assert (len(absent.case.inputs), len(left_out.case.inputs)) == (1, 0)
    assert absent.case.name.endswith("_empty")
    assert left_out.case.name.endswith("_none")


def test_nodes_may_stand_before_the_one():
    """Of an operator that is about the graph around it: the derivative of x·x is 2x."""
    nodes = tuple(map(onnx.parser.parse_node, ("p = Mul (Inputs_0, Inputs_0)", "y = ReduceSum <keepdims = 0> (p)")))
    drawn = Sample({"Inputs": (np.array([1, -3], np.float32),)}, outputs=1, nodes=nodes)
    domain = "ai.onnx.preview.training"
    one = find("Gradient", 1, domain)
    assert one
    group = Group("tried", "As it comes.", lambda _: [drawn], {}, "")
    attributes = {"xs": ["Inputs_0"], "y": "y", "zs": OMITTED}
    types = {"T1": FLOAT, "T2": FLOAT}
    (found,) = build_rows(one, schema("Gradient", 1, domain), [Row(types, attributes, group)])
    assert [node.op_type for node in model(found).node] == ["Mul", "ReduceSum", "Gradient"]
    assert value(found, "output_0", FLOAT).tolist() == [2, -6]
    imports = onnx.load_from_string(found.files["model.onnx"]).opset_import
    assert {(o.domain, o.version) for o in imports} == {(domain, 1), ("", 26)}
