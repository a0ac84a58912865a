"""The documents' pseudo code as literal values, and mistakes that the groups catch."""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from onnx.helper import make_node

from harness.numbers.bound import PASS_AT
from harness.operators.training.gradient import gradient
from harness.operators.training.optimizers import DOMAIN
from harness.oracles.draw import Draw
from harness.oracles.evaluate import answer, expected
from harness.oracles.node import Call
from harness.oracles.operator import OMITTED, Operator, Sample, find
from harness.suite.planning import plan

DOUBLE = {"T1": "tensor(double)", "T2": "tensor(int64)", "T3": "tensor(double)"}


def operator(op: str) -> Operator:
    found = find(op, 1, DOMAIN)
    assert found
    return found


def call(op: str, R: float, T: int, *tensors: Any, types: dict[str, str] = DOUBLE, **attributes: Any) -> Call:
    one = operator(op)
    rate, values = (np.float32 if types[v] == "tensor(float)" else np.float64 for v in ("T1", "T3"))
    inputs = {"R": np.array(R, rate), "T": np.array(T), "inputs": tuple(np.array(x, values) for x in tensors)}
    outputs = len(tensors) // len(ROLES[op]) * (len(ROLES[op]) - 1)
    every = {a.name: OMITTED for a in one.schemas[0].attributes} | attributes
    return Call(one, one.schemas[0], types, inputs, every, outputs)


ROLES = {"Adagrad": "XGH", "Adam": "XGVH", "Momentum": "XGV"}


def of(op: str, R: float, T: int, *tensors: Any, **attributes: Any) -> list[Any]:
    return [np.asarray(x.value).tolist() for x in expected(call(op, R, T, *tensors, **attributes))]


def test_adagrad_moves_by_the_root_of_the_squares_so_far():
    """G_regularized = 0.5 * 2 + 2 = 3, H_new = 7 + 9 = 16, r = 8 / (1 + 3 * 0.25)."""
    x, h = of("Adagrad", 7.0, 3, 2.0, 2.0, 7.0, norm_coefficient=0.5, decay_factor=0.25, epsilon=2.0)
    assert (x, h) == (2 - 4 * 3 / (4 + 2), 16.0)
    assert of("Adagrad", 1.0, 9, 2.0, 3.0, 7.0, epsilon=1.0) == [2 - 3 / 5, 16.0], "without decay T means nothing"


def test_the_defaults_of_epsilon_are_floats():
    (x, _) = of("Adagrad", 1.0, 0, 0.0, 1.0, 0.0)
    assert x == -1 / (1 + float(np.float32(1e-6)))


def test_adam_corrects_the_rate_from_the_first_count_on():
    """V_new = 0.5 * 2 + 0.5 * 4 = 3, H_new = 0.75 * 4 + 0.25 * 16 = 7; and G = 3.5 + 0.25 * 2."""
    given = {"alpha": 0.5, "beta": 0.75, "epsilon": 0.0}
    tensors = (2.0, 3.5, 2.0, 4.0)
    (x, v, h) = of("Adam", 1.0, 0, *tensors, **given, norm_coefficient=0.25)
    assert (x, v, h) == (pytest.approx(2 - 3 / np.sqrt(7), rel=1e-15), 3, 7)
    (x, *_) = of("Adam", 1.0, 1, *tensors, **given, norm_coefficient=0.25)
    assert x == pytest.approx(2 - np.sqrt(0.25) / 0.5 * 3 / np.sqrt(7), rel=1e-15)
    (x, *_) = of("Adam", 1.0, 2, *tensors, **given, norm_coefficient=0.25, norm_coefficient_post=0.75)
    assert x == pytest.approx((2 - np.sqrt(1 - 0.75**2) / 0.75 * 3 / np.sqrt(7)) / 4, rel=1e-15)


def test_momentum_ignores_beta_in_the_first_iteration():
    """G_regularized = 0.5 * 2 + 3 = 4; V_new = 0.5 * 6 + 1 * 4, or with beta 0.25: 0.5 * 6 + 1."""
    given = {"alpha": 0.5, "beta": 0.25, "norm_coefficient": 0.5}
    assert of("Momentum", 2.0, 0, 2.0, 3.0, 6.0, mode="standard", **given) == [2 - 2 * 7, 7]
    assert of("Momentum", 2.0, 1, 2.0, 3.0, 6.0, mode="standard", **given) == [2 - 2 * 4, 4]
    assert of("Momentum", 2.0, 1, 2.0, 3.0, 6.0, mode="nesterov", **given) == [2 - 2 * (4 + 0.5 * 4), 4]


def test_several_tensors_stand_role_by_role():
    x, g, v = ([1.0, 2.0], 3.0), ([1.0, 1.0], 2.0), ([0.0, 4.0], 8.0)
    found = of("Momentum", 1.0, 1, *x, *g, *v, alpha=0.5, beta=1.0, mode="standard", norm_coefficient=0.0)
    assert found == [[0, -1], -3, [1, 3], 6]
    found = of("Adagrad", 1.0, 1, *x, *g, [0.0, 3.0], 12.0, epsilon=0.0)
    assert found == [[0, 1.5], 2.5, [1, 4], 16]


def test_the_rate_may_have_another_type_than_the_tensors():
    """What it is computed in, no text says: the bound is that of the narrower of the two."""
    wide = call("Adam", 0.5, 3, 1.0, 2.0, 3.0, 4.0, types=DOUBLE)
    mixed = call("Adam", 0.5, 3, 1.0, 2.0, 3.0, 4.0, types=DOUBLE | {"T1": "tensor(float)"})
    (a, *_), (b, *_) = expected(wide), expected(mixed)
    assert np.asarray(a.value) == np.asarray(b.value)
    assert a.bound is not None
    assert b.bound is not None
    assert b.bound > 1e6 * a.bound


Change = Callable[..., tuple[np.ndarray, ...]]


def _epsilon_inside(R: Any, T: Any, *inputs: Any, epsilon: float, **others: Any) -> tuple[Any, ...]:
    *rest, last = inputs
    x, _ = operator("Adagrad").oracle(R, T, *rest, last + epsilon, epsilon=0.0, **others)
    return x, operator("Adagrad").oracle(R, T, *inputs, epsilon=0.0, **others)[1]


def _one_more(op: str) -> Change:
    return lambda R, T, *inputs, **others: operator(op).oracle(R, T + 1, *inputs, **others)


def _with(op: str, **fixed: Any) -> Change:
    return lambda R, T, *inputs, **others: operator(op).oracle(R, T, *inputs, **(others | fixed))


def _tensor_by_tensor(op: str) -> Change:
    """The results of each tensor side by side, in place of those of each role."""

    def oracle(R: Any, T: Any, *inputs: Any, **others: Any) -> tuple[Any, ...]:
        found = operator(op).oracle(R, T, *inputs, **others)
        count = len(inputs) // len(ROLES[op])
        return tuple(found[i] for n in range(count) for i in range(n, len(found), count))

    return oracle


MISTAKES: dict[str, tuple[str, Change, str]] = {
    "epsilon under the root": ("Adagrad", _epsilon_inside, "hardly_a_gradient"),
    "Adagrad counts from 1": ("Adagrad", _one_more("Adagrad"), "counts"),
    "Adam counts from 1": ("Adam", _one_more("Adam"), "counts"),
    "beta in the first iteration": ("Momentum", _one_more("Momentum"), "counts"),
    "no epsilon": ("Adam", _with("Adam", epsilon=0.0), "hardly_a_gradient"),
    "no regularization afterwards": ("Adam", _with("Adam", norm_coefficient_post=0.0), "ordinary"),
    "never Nesterov's": ("Momentum", _with("Momentum", mode="standard"), "ordinary"),
    "tensor by tensor": ("Adam", _tensor_by_tensor("Adam"), "several_tensors"),
    "tensor by tensor, Momentum": ("Momentum", _tensor_by_tensor("Momentum"), "several_tensors"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_caught_by_its_group(mistake: str):
    op, oracle, group = MISTAKES[mistake]
    one = operator(op)
    wrong = msgspec.structs.replace(one, oracle=oracle)
    seen = 0
    for row in (row for row in plan(one, one.schemas[0]).rows if row.group.name == group):
        for drawn in row.group.generate(Draw("test", row.types, row.attributes)):
            assert isinstance(drawn, Sample)
            asked = Call(one, one.schemas[0], row.types, drawn.inputs, row.attributes, drawn.outputs)
            want, got = expected(asked), answer(msgspec.structs.replace(asked, operator=wrong))
            right = answer(asked)
            assert all(_passes(w, np.asarray(r.value)) for w, r in zip(want, right, strict=True))
            seen += not all(_passes(w, np.asarray(g.value)) for w, g in zip(want, got, strict=True))
    assert seen


def _passes(want: Any, got: np.ndarray) -> bool:
    values, bound = np.asarray(want.value, np.float64), np.asarray(want.bound)
    if values.shape != got.shape:
        return False
    with np.errstate(invalid="ignore"):
        near = np.abs(got - values) <= PASS_AT * bound
    return bool(np.all(near | (got == values) | (np.isnan(got) & np.isnan(values))))


ADD = make_node("Add", ["a", "b"], ["c"])
MUL = make_node("Mul", ["c", "a"], ["d"])


def slopes(nodes: Any, y: str, xs: str, zs: str = "", **at: Any) -> list[Any]:
    values = [np.asarray(at[name], np.float64) for name in (*xs, *zs)]
    return [x.tolist() for x in gradient.oracle(*values, xs=list(xs), y=y, zs=list(zs), nodes=nodes)]


def test_gradient_is_as_the_official_tests_print():
    assert slopes([ADD], "c", "ab", a=1, b=2) == [1, 1]
    assert slopes([ADD, MUL], "d", "ab", a=1, b=2) == [4, 1]


def test_gradient_takes_what_it_is_given_for_the_tensors_of_the_graph():
    """ "This Gradient only outputs" those of xs; an intermediate tensor in xs is its own, at the value given."""
    assert slopes([ADD, MUL], "d", "a", "b", a=3, b=5) == [11]
    assert slopes([ADD, MUL], "d", "b", "a", a=3, b=5) == [3]
    assert slopes([ADD, MUL], "d", "ca", c=7, a=3) == [3, 7]


def test_gradient_sums_over_what_was_broadcast():
    nodes = [
        make_node("Mul", ["a", "b"], ["c"]),
        make_node("Div", ["c", "e"], ["f"]),
        make_node("ReduceSum", ["f"], ["y"], keepdims=0),
    ]
    assert slopes(nodes, "y", "abe", a=[[1, 2, 3]], b=[[1], [2]], e=2) == [[[1.5, 1.5, 1.5]], [[3], [3]], -4.5]
    kept = make_node("ReduceSum", ["a"], ["y"])
    assert slopes([kept], "y", "a", a=[[1, 2, 3]]) == [[[1, 1, 1]]]


def test_gradient_needs_all_that_determines_y():
    with pytest.raises(KeyError, match="d"):
        slopes([ADD, MUL], "d", "a", a=1)
