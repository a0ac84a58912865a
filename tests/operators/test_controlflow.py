"""If, Loop, Scan and SequenceMap: what their documents say, on graphs written here, and mistakes that inputs show."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest

from harness.operators.controlflow.graphs import BOOL, INT64, free, graph, move, node
from harness.oracles.evaluate import answer
from harness.oracles.node import Call, Scope
from harness.oracles.operator import OMITTED, Operator, find
from harness.spec.schema import schema
from harness.spec.values import Typed, parse_type
from harness.suite.build import build_plan
from harness.suite.planning import Plan, plan

FLOAT = "tensor(float)"


def typed(value: Any, of: str = FLOAT) -> Typed:
    return Typed(parse_type(of), np.asarray(value, {FLOAT: np.float32, INT64: np.int64, BOOL: np.bool_}[of]))


def operator(op: str, since: int) -> Operator:
    found = find(op, since)
    assert found
    return found


def run(op: str, since: int, inputs: dict[str, Any], outer: dict[str, Typed] | None = None, **attributes: Any) -> Any:
    version = schema(op, since)
    types = {"V": FLOAT, "B": BOOL, "I": INT64, "S": f"seq({FLOAT})"}
    given = {a.name: OMITTED for a in version.attributes} | attributes
    scope = Scope({"": since}, outer or {})
    return [
        np.asarray(one.value).tolist() if not isinstance(one.value, list) else [v.tolist() for v in one.value]
        for one in answer(Call(operator(op, since), version, types, inputs, given, scope=scope))
    ]


# The document's own sample, in which the condition is always false after the first time for a > 0.
SAMPLE = graph(
    "body-net",
    {"i": INT64, "keepgoing_in": BOOL, "b_in": FLOAT},
    {"keepgoing_out": BOOL, "b_out": FLOAT, "user_defined_val": (FLOAT, ())},
    "my_local = Add (a, b_in)",
    "b_out = Sub (a, b_in)",
    "keepgoing_out = Greater (my_local, b_out)",
    "user_defined_val = Add (b_in, b_in)",
)


@pytest.mark.parametrize("since", [25, 24, 23, 21, 19, 16, 13, 11])
def test_the_sample_of_the_document(since: int):
    """a = 3, b = 6: b_out is -3, 6, -3 …, and my_local > b_out is 9 > -3, then 0 > 6."""
    inputs = {"M": np.array(10), "cond": np.array(True), "v_initial": (typed(6),)}
    assert run("Loop", since, inputs, {"a": typed(3)}, body=SAMPLE) == [6, [12, -6]]


def test_a_loop_ends_as_its_table_says():
    counted = {"M": np.array(3), "v_initial": (typed(6),)}
    a = {"a": typed(3)}
    assert run("Loop", 25, counted, a, body=SAMPLE) == [-3, [12, -6, 12]], "the condition is ignored"
    while_true = {"cond": np.array(True), "v_initial": (typed(6),)}
    assert run("Loop", 25, while_true, a, body=SAMPLE) == [6, [12, -6]]
    for inputs in (
        {**counted, "M": np.array(0)},
        {**while_true, "cond": np.array(False)},
        {**counted, "M": np.array(-1)},
    ):
        assert run("Loop", 25, inputs, a, body=SAMPLE) == [6, []], "the initial value, and no scan elements"


def test_scan_outputs_of_no_iteration_have_the_shape_that_the_body_states():
    body = graph(
        "g", {"i": INT64, "c": BOOL}, {"on": BOOL, "s": (FLOAT, (2, 3))}, "on = Identity (c)", "s = Identity (x)"
    )
    inputs = {"M": np.array(0), "cond": np.array(True), "v_initial": ()}
    call = Call(
        operator("Loop", 25),
        schema("Loop", 25),
        {"V": FLOAT, "I": INT64, "B": BOOL},
        inputs,
        {"body": body},
        scope=Scope({"": 25}, {"x": typed(np.zeros((2, 3)))}),
    )
    (none,) = answer(call)
    assert np.asarray(none.value).shape == (0, 2, 3)


def test_a_scan_hands_its_state_on_and_reads_and_writes_in_each_direction():
    body = graph(
        "sums",
        {"state": FLOAT, "u": FLOAT},
        {"state_out": FLOAT, "seen": (FLOAT, ())},
        "state_out = Add (state, u)",
        "seen = Identity (state_out)",
    )
    x = typed([1, 2, 4])
    inputs = {"initial_state_and_scan_inputs": (typed(10), x)}
    forward = {"body": body, "num_scan_inputs": 1}
    assert run("Scan", 11, inputs, **forward) == [17, [11, 13, 17]]
    assert run("Scan", 11, inputs, **forward, scan_input_directions=[1]) == [17, [14, 16, 17]]
    assert run("Scan", 11, inputs, **forward, scan_output_directions=[1]) == [17, [17, 13, 11]]


def test_a_scan_takes_and_stacks_along_its_axes():
    body = graph("same", {"u": FLOAT}, {"seen": (FLOAT, (2,))}, "seen = Identity (u)")
    x = typed([[1, 2, 3], [4, 5, 6]])
    inputs = {"initial_state_and_scan_inputs": (x,)}
    columns = {"body": body, "num_scan_inputs": 1, "scan_input_axes": [-1]}
    assert run("Scan", 16, inputs, **columns) == [[[1, 4], [2, 5], [3, 6]]]
    assert run("Scan", 16, inputs, **columns, scan_output_axes=[1]) == [[[1, 2, 3], [4, 5, 6]]]
    assert run("Scan", 16, inputs, **columns, scan_output_axes=[-1], scan_output_directions=[1]) == [
        [[3, 2, 1], [6, 5, 4]]
    ]


def test_the_first_scan_has_batches_of_their_own_lengths():
    body = graph("sums", {"state": FLOAT, "u": FLOAT}, {"out": FLOAT}, "out = Add (state, u)")
    x = typed([[1, 2, 4], [10, 20, 40]])
    inputs = {
        "sequence_lens": np.array([3, 2], np.int64),
        "initial_state_and_scan_inputs": (typed([0, 1000]), x),
    }
    assert run("Scan", 8, inputs, body=body, num_scan_inputs=1) == [[7, 1030]]
    assert run("Scan", 8, inputs, body=body, num_scan_inputs=1, directions=[1]) == [[7, 1030]]


def test_a_map_takes_tensors_whole_and_sequences_one_by_one():
    body = graph("g", {"x": FLOAT, "k": FLOAT}, {"y": FLOAT, "n": INT64}, "y = Add (x, k)", "n = Shape (x)")
    inputs = {
        "input_sequence": [np.array([1, 2], np.float32), np.array([3], np.float32)],
        "additional_inputs": (typed(10),),
    }
    assert run("SequenceMap", 17, inputs, body=body) == [[[11, 12], [13]], [[2], [1]]]
    others = Typed(parse_type(f"seq({FLOAT})"), [np.array(10, np.float32), np.array(20, np.float32)])
    assert run("SequenceMap", 17, inputs | {"additional_inputs": (others,)}, body=body)[0] == [[11, 12], [23]]


def test_what_a_graph_takes_from_outside():
    inner = graph("inner", {}, {"y": FLOAT}, "t = Identity (x)", "y = Add (t, z)")
    outer = graph(
        "outer", {"x": FLOAT}, {"y": FLOAT}, node("If", ["flag"], ["y"], then_branch=inner, else_branch=inner)
    )
    assert free(inner) == {"x", "z"}
    assert free(outer) == {"flag", "z"}


@pytest.mark.parametrize("of", ["tensor(float)", "seq(tensor(int4))", "optional(tensor(bfloat16))"])
def test_values_of_every_type_are_moved(of: str):
    """Whatever the node is that moves them: the model is valid."""
    moved = move(of, "x", "y", "flag")
    built = graph("g", {"x": (of, (2,)), "flag": (BOOL, ())}, {"y": (of, (2,))}, moved)
    opset = onnx.helper.make_operatorsetid("", 25)
    onnx.checker.check_model(onnx.helper.make_model(built, opset_imports=[opset], ir_version=11), full_check=True)


Mistake = Callable[..., Any]


def branches_swapped(oracle: Callable[..., Any]) -> Mistake:
    return lambda cond, *, then_branch, else_branch: oracle(cond, then_branch=else_branch, else_branch=then_branch)


def condition_heeded(oracle: Callable[..., Any]) -> Mistake:
    """A trip count alone is taken for a trip count and a condition."""
    return lambda M=None, cond=None, *v, body: oracle(M, cond or typed(True, BOOL), *v, body=body)


def one_more_trip(oracle: Callable[..., Any]) -> Mistake:
    return lambda M=None, cond=None, *v, body: oracle(M and typed(int(M.value) + 1, INT64), cond, *v, body=body)


def always_forward(oracle: Callable[..., Any]) -> Mistake:
    return lambda *x, scan_input_directions, **others: oracle(*x, scan_input_directions=None, **others)


def always_appended(oracle: Callable[..., Any]) -> Mistake:
    return lambda *x, scan_output_directions, **others: oracle(*x, scan_output_directions=None, **others)


def states_of_the_first_batch(oracle: Callable[..., Any]) -> Mistake:
    def mistaken(sequence_lens: Any = None, *x: Typed, num_scan_inputs: int, **others: Any) -> Any:
        states = [Typed(s.of, np.broadcast_to(s.value[:1], s.value.shape)) for s in x[:-num_scan_inputs]]
        return oracle(sequence_lens, *states, *x[-num_scan_inputs:], num_scan_inputs=num_scan_inputs, **others)

    return mistaken


@pytest.mark.parametrize(
    ("op", "since", "mistake"),
    [
        ("If", 25, branches_swapped),
        ("If", 1, branches_swapped),
        ("Loop", 25, condition_heeded),
        ("Loop", 25, one_more_trip),
        ("Scan", 25, always_forward),
        ("Scan", 9, always_appended),
        ("Scan", 8, states_of_the_first_batch),
    ],
)
def test_the_inputs_show_a_mistake(op: str, since: int, mistake: Callable[..., Mistake]):
    one = operator(op, since)
    version = schema(op, since)
    rows = plan(one, version, "pairs" if since == 25 else "each").rows
    some = [row for row in rows if len(rows) < 100 or row.types["V"] in (FLOAT, "tensor(string)")]
    wrong = msgspec.structs.replace(one, oracle=mistake(one.oracle))
    right, other = (list(build_plan(each, version, Plan(tuple(some), 0))) for each in (one, wrong))
    outputs = [[{k: v for k, v in built.files.items() if "output" in k} for built in each] for each in (right, other)]
    assert outputs[0] != outputs[1]
