"""Loop: a graph that is run so many times, or as long as a condition holds, on what it gave the time before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx

from harness.operators.controlflow.graphs import (
    ABSENT,
    BOOL,
    INT64,
    MOVED,
    SOME,
    constant,
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
from harness.spec.values import TensorType, Typed, ValueType

ROUND = {"i": (INT64, ()), "going": (BOOL, ())}
"""The inputs that every body has: the number of the iteration and the condition."""
SHAPE = (2, 3)
"""Of the tensors that scan outputs are made of; the bodies state it, for no iteration would tell it."""


def exchange(types: Types) -> onnx.GraphProto:
    """Two values that change places."""
    v = types["V"]
    outputs = {"on": (BOOL, ()), "a_out": v, "b_out": v}
    nodes = ("on = Identity (going)", move(v, "b", "a_out", "going"), move(v, "a", "b_out", "going"))
    return graph("exchange", {**ROUND, "a": v, "b": v}, outputs, *nodes)


def record(types: Types) -> onnx.GraphProto:
    """As ``exchange``, with two scan outputs: one of the values, and the number of the iteration."""
    v = types["V"]
    outputs = {"on": (BOOL, ()), "a_out": v, "b_out": v, "seen": (v, SHAPE), "count": (INT64, ())}
    nodes = ("on = Identity (going)", "a_out = Identity (b)", "b_out = Identity (a)")
    return graph("record", {**ROUND, "a": v, "b": v}, outputs, *nodes, "seen = Identity (a)", "count = Identity (i)")


def watch(types: Types) -> onnx.GraphProto:
    """No values of its own: scan outputs of what is outside, and of the condition."""
    outputs = {"on": (BOOL, ()), "seen": (types["V"], SHAPE), "was": (BOOL, ())}
    nodes = ("on = Identity (going)", "seen = Identity (x)", "was = Identity (going)")
    return graph("watch", ROUND, outputs, *nodes)


def queue(types: Types) -> onnx.GraphProto:
    """The conditions to come are values of the loop, and move up."""
    v = types["V"]
    outputs = {"on": (BOOL, ()), "p_out": (BOOL, ()), "q_out": (BOOL, ()), "a_out": v, "count": (INT64, ())}
    nodes = ("on = Identity (p)", "p_out = Identity (q)", "q_out = Not (q)", move(v, "a", "a_out", "going"))
    return graph("queue", {**ROUND, "p": (BOOL, ()), "q": (BOOL, ()), "a": v}, outputs, *nodes, "count = Identity (i)")


def stop(types: Types) -> onnx.GraphProto:
    """The condition is false after the first time, whatever it was."""
    v = types["V"]
    outputs = {"on": (BOOL, ()), "a_out": v, "count": (INT64, ())}
    return graph(
        "stop",
        {**ROUND, "a": v},
        outputs,
        constant("on", False),
        move(v, "a", "a_out", "going"),
        "count = Identity (i)",
    )


def grow(types: Types) -> onnx.GraphProto:
    """A tensor that becomes longer each time by one from outside."""
    v = types["V"]
    nodes = ("on = Identity (going)", "a_out = Concat <axis = 0> (x, a)", "length = Shape (a)")
    outputs = {"on": (BOOL, ()), "a_out": v, "length": (INT64, (2,))}
    return graph("grow", {**ROUND, "a": v}, outputs, *nodes)


def nested(types: Types) -> onnx.GraphProto:
    """A loop in the loop, which sees the number of the outer iteration and what is outside of both."""
    v = types["V"]
    inside = {"j": (INT64, ()), "going_in": (BOOL, ()), "c": v}
    outputs = {"on_in": (BOOL, ()), "c_out": v, "outer_count": (INT64, ()), "seen_in": (v, SHAPE)}
    nodes = ("on_in = Identity (going_in)", "c_out = Identity (x)")
    seen = ("outer_count = Identity (i)", "seen_in = Identity (c)")
    inner = node(
        "Loop",
        ["trips", "", "a"],
        ["a_out", "counts", "seen"],
        body=graph("inner", inside, outputs, *nodes, *seen),
    )
    outputs = {"on": (BOOL, ()), "a_out": v, "counts": (INT64, (2,)), "seen": (v, (2, *SHAPE))}
    return graph("nested", {**ROUND, "a": v}, outputs, "on = Identity (going)", inner)


SCANNED, LATER = (record, watch, nested), (grow,)


def plain(V: str, body: object) -> bool:
    """Scan outputs "must be Tensors", and types that are not among some meet one body."""
    return (V in SOME or body in (record, exchange)) and (V.startswith("tensor") or body not in (*SCANNED, *LATER))


def as_plain_as_can_be(V: str, body: object) -> bool:
    """Tensors of the other types meet ``record``, what is none meets ``exchange``."""
    return body is not exchange or V in SOME or not V.startswith("tensor")


@operator(
    "Loop",
    since=(25, 24, 23, 21, 19, 16, 13, 11),
    exact=True,
    constraints=[plain, as_plain_as_can_be],
    body=(record, exchange, queue, watch, stop, grow, nested),
)
def loop(M: Typed | None = None, cond: Typed | None = None, *v_initial: Typed, body: Graph) -> tuple[Typed, ...]:
    """The operating modes in the table: ``for (int i=0; i < trip_count && cond; ++i)``, without what is omitted."""
    trips = None if M is None else plainly(M)
    going, i, carried = cond is None or bool(plainly(cond)), 0, list(v_initial)
    condition = typed(BOOL, np.array(going))
    scanned: list[list[Typed]] = []
    while (trips is None or i < trips) and going:
        condition, *given = body(typed(INT64, np.array(i)), condition, *carried)
        carried, seen = given[: len(carried)], given[len(carried) :]
        scanned.append(seen)
        going = cond is None or bool(plainly(condition))
        i += 1
    ports = list(zip(body.types, body.shapes, strict=True))[1 + len(carried) :]
    return (*carried, *(concatenated([seen[k] for seen in scanned], *port) for k, port in enumerate(ports)))


def plainly(value: Typed) -> Any:
    """The one element of a tensor."""
    assert isinstance(value.value, np.ndarray)
    return value.value.item()


def concatenated(elements: list[Typed], of: ValueType, shape: tuple[int, ...] | None, axis: int = 0) -> Typed:
    """The values of a scan output along a new axis: none of them if there was no iteration."""
    assert isinstance(of, TensorType)
    if not elements:
        assert shape is not None
        sizes = list(shape)
        sizes.insert(axis if axis >= 0 else axis + len(shape) + 1, 0)
        return Typed(of, np.empty(sizes, of.element.dtype))
    return Typed(of, np.stack([np.asarray(one.value) for one in elements], axis))


loop_1 = operator("Loop", since=1, exact=True, constraints=[plain], body=(record, queue))(loop.oracle)


def carried(draw: Draw) -> tuple[Typed, ...]:
    """The initial values that the body wants."""
    body = draw.attributes["body"]
    shapes = {"grow": (1, 3)}
    names = [value.name for value in body.input][2:]
    tensors = [SHAPE, (4,), (), (0, 2)]
    values = {
        "a": of_type(draw, shapes.get(body.name, SHAPE), *tensors[1:]),
        "b": of_type(draw, SHAPE, *reversed(tensors)),
        "p": typed(BOOL, np.array(True)),
        "q": typed(BOOL, np.array(False)),
    }
    return tuple(values[name] for name in names)


def around(draw: Draw) -> dict[str, Typed]:
    """What the body takes from outside."""
    values = {"x": of_type(draw, SHAPE), "trips": typed(INT64, np.array(2))}
    return outside([draw.attributes["body"]], values)


def drawn(draw: Draw, trips: int | None, cond: bool | None) -> Sample:
    """Inputs for so many iterations at most."""
    inputs: dict[str, Any] = {"v_initial": carried(draw)}
    if trips is not None:
        inputs["M"] = np.array(trips)
    if cond is not None:
        inputs["cond"] = np.array(cond)
    return Sample(inputs, outer=around(draw))


for one in (loop, loop_1):

    @one.inputs()
    def ordinary(draw: Draw) -> Iterator[Sample]:
        """Three iterations at most, and a condition that holds at first."""
        yield drawn(draw, 3, True)

    @one.inputs(V=MOVED)
    def no_iteration(draw: Draw) -> Iterator[Sample]:
        """No trip, or a condition that is false at once: initial values come out, and scan outputs have no elements."""
        yield drawn(draw, 0, True)
        yield drawn(draw, 3, False)
        yield drawn(draw, -2, True)

    @one.inputs(lambda body: body is not queue, V=SOME)
    def trips_alone(draw: Draw) -> Iterator[Sample]:
        """No condition: that of the body is "ignored"."""
        yield drawn(draw, 3, None)
        yield drawn(draw, 1, None)

    @one.inputs(lambda body: body in (queue, stop), V=SOME)
    def condition_alone(draw: Draw) -> Iterator[Sample]:
        """No trip count, as in a while loop, where the body ends it."""
        yield drawn(draw, None, True)
        yield drawn(draw, None, False)


@loop.inputs(V=ABSENT)
def absent(draw: Draw) -> Iterator[Sample]:
    """Optionals of which one is empty."""
    full = drawn(draw, 3, True)
    values = list(full.inputs["v_initial"])
    at = next(i for i, x in enumerate(values) if str(x.of) == draw.types["V"])
    values[at] = Typed(values[at].of, None)
    yield Sample({**full.inputs, "v_initial": tuple(values)}, outer=full.outer)
