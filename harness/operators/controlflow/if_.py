"""If: one of two graphs, as the condition says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx

from harness.operators.controlflow.graphs import (
    ABSENT,
    BOOL,
    INT64,
    MOVED,
    SOME,
    graph,
    move,
    node,
    of_type,
    outside,
    typed,
)
from harness.oracles.draw import Draw
from harness.oracles.graph import Graph
from harness.oracles.operator import Sample, Types, operator
from harness.spec.codec import to_proto
from harness.spec.values import TensorType, Typed, element_in, parse_type


def first(types: Types) -> onnx.GraphProto:
    """A value from outside."""
    return graph("first", {}, {"y": types["V"]}, move(types["V"], "x", "y", "flag"))


def second(types: Types) -> onnx.GraphProto:
    """Another value from outside."""
    return graph("second", {}, {"y": types["V"]}, move(types["V"], "z", "y", "flag"))


def constant(types: Types) -> onnx.GraphProto:
    """A tensor from inside, of a shape that no other branch gives."""
    of = element_in(parse_type(types["V"]))
    value = to_proto(Draw("constant", types, {}).V.ordinary((1, 4)), TensorType(of))
    return graph("constant", {}, {"y": types["V"]}, onnx.helper.make_node("Constant", [], ["y"], value=value))


def nested(types: Types) -> onnx.GraphProto:
    """Another If, whose condition is from outside."""
    v = types["V"]
    branches = {
        "then_branch": graph("inner_first", {}, {"w": v}, move(v, "x", "w", "flag")),
        "else_branch": graph("inner_second", {}, {"w": v}, move(v, "z", "w", "flag")),
    }
    inner = node("If", ["flag"], ["y"], **branches)
    return graph("nested", {}, {"y": v}, inner)


def pair(types: Types) -> onnx.GraphProto:
    """Two values of different types."""
    v = types["V"]
    return graph("pair", {}, {"y": v, "m": INT64}, move(v, "x", "y", "flag"), "m = Identity (n)")


def other_pair(types: Types) -> onnx.GraphProto:
    """Two values of the same types as those of ``pair``, of which the second is worked out in two steps."""
    v = types["V"]
    steps = ("s = Shape (n)", "m = Identity (s)")
    return graph("other_pair", {}, {"y": v, "m": INT64}, move(v, "z", "y", "flag"), *steps)


def as_many(then_branch: object, else_branch: object) -> bool:
    """Whether the branches have the same number of outputs: it "must match"."""
    pairs = (pair, other_pair)
    return (then_branch in pairs) == (else_branch in pairs) and then_branch is not else_branch


def plain(V: str, then_branch: object, else_branch: object) -> bool:
    """The types that are not among some meet one pair of branches."""
    return V in SOME or (then_branch, else_branch) == (first, second)


def is_tensor(V: str, then_branch: object, else_branch: object) -> bool:
    """Whether there is a constant of the type, where one is asked for."""
    return V.startswith("tensor") or constant not in (then_branch, else_branch)


@operator(
    "If",
    since=(25, 24, 23, 21, 19, 16, 13, 11),
    exact=True,
    constraints=[as_many, plain, is_tensor],
    then_branch=(first, constant, nested, pair),
    else_branch=(second, nested, constant, other_pair),
)
def if_(cond: Typed, *, then_branch: Graph, else_branch: Graph) -> tuple[Typed, ...]:
    """The "graph to run if condition is true", or the one "if condition is false"."""
    assert isinstance(cond.value, np.ndarray)
    return tuple(then_branch() if cond.value.item() else else_branch())


if_1 = operator(
    "If",
    since=1,
    exact=True,
    constraints=[as_many, plain],
    then_branch=(first, nested, pair),
    else_branch=(second, nested, other_pair),
)(if_.oracle)
"""Of its values, "the return values in the then_branch and else_branch must be of the same shape"."""


def around(draw: Draw, flag: bool, x: tuple[int, ...], z: tuple[int, ...]) -> dict[str, Typed]:
    """What the branches take from outside."""
    bodies = [draw.attributes["then_branch"], draw.attributes["else_branch"]]
    values = {
        "x": of_type(draw, x, (3,), (), (2,)),
        "z": of_type(draw, z, (1, 2), (0,)),
        "flag": typed(BOOL, np.array(flag)),
        "n": typed(INT64, np.array([draw.integer(-9, 9)])),
    }
    return outside(bodies, values)


for one in (if_, if_1):

    @one.inputs()
    def ordinary(draw: Draw) -> Iterator[Sample]:
        """Each branch; of most types one of the two."""
        for cond in (True, False) if draw.types["V"] in MOVED else (draw.integer(0, 1) == 1,):
            yield Sample({"cond": np.array(cond)}, outer=around(draw, not cond, (2, 3), (2, 3)))


@if_.inputs(V=("float", "string", "int64"))
def other_shapes(draw: Draw) -> Iterator[Sample]:
    """Branches that give other shapes, and a condition of one element in one dimension."""
    for cond in (True, False):
        yield Sample({"cond": np.array([cond])}, outer=around(draw, cond, (3, 1), (0, 5)))


@if_.inputs(V=ABSENT)
def absent(draw: Draw) -> Iterator[Sample]:
    """Optionals that are empty."""
    for cond in (True, False):
        outer = around(draw, cond, (2, 3), (2, 3))
        empty = {name: Typed(value.of, None) for name, value in outer.items() if name in ("x", "z")}
        yield Sample({"cond": np.array(cond)}, outer=outer | empty)
