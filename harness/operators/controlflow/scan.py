"""Scan: a graph that is run for each slice of its inputs along their axes, with a state that it hands on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx

from harness.operators.controlflow.graphs import graph, node, of_type, outside, typed
from harness.operators.controlflow.loop import concatenated
from harness.oracles.draw import Draw
from harness.oracles.graph import Graph
from harness.oracles.operator import OMITTED, Sample, Types, operator
from harness.spec.values import Typed

ELEMENT = (2, 3)
"""The shape of what is scanned, without the axis of the sequence, and of the states; the bodies state it."""


def delay(types: Types) -> onnx.GraphProto:
    """Each element comes out one iteration later, by way of the state."""
    of = (types["V"], ELEMENT)
    nodes = ("state_out = Identity (u)", "seen = Identity (state)")
    return graph("delay", {"state": of, "u": of}, {"state_out": of, "seen": of}, *nodes)


def cross(types: Types) -> onnx.GraphProto:
    """No state; two inputs, which come out as each other."""
    of = (types["V"], ELEMENT)
    nodes = ("seen = Identity (w)", "also_seen = Identity (u)")
    return graph("cross", {"u": of, "w": of}, {"seen": of, "also_seen": of}, *nodes)


def last(types: Types) -> onnx.GraphProto:
    """Two states: the last element, and the one before it; nothing else comes out."""
    of = (types["V"], ELEMENT)
    ports = {"now": of, "before": of, "u": of}
    nodes = ("now_out = Identity (u)", "before_out = Identity (now)")
    return graph("last", ports, {"now_out": of, "before_out": of}, *nodes)


def outer(types: Types) -> onnx.GraphProto:
    """A value from outside comes out each time, beside the element, which a graph inside sees."""
    of = (types["V"], ELEMENT)
    branches = {
        "then_branch": graph("then", {}, {"mine": of}, "mine = Identity (u)"),
        "else_branch": graph("else", {}, {"mine": of}, "mine = Identity (x)"),
    }
    inner = node("If", ["flag"], ["seen"], **branches)
    return graph("outer", {"u": of}, {"seen": of, "given": of}, inner, "given = Identity (x)")


SCANNED = {"delay": 1, "cross": 2, "last": 1, "outer": 1}
"""How many inputs a body scans."""
GIVEN = {"delay": 1, "cross": 2, "last": 0, "outer": 2}
"""How many scan outputs it has."""
SOME = ("tensor(float)", "tensor(int64)", "tensor(string)", "tensor(bool)")


def fits(body: Any, num_scan_inputs: int) -> bool:
    """Whether the number of inputs is that of the body."""
    return SCANNED[body.__name__] == num_scan_inputs


def one_each(body: Any, listed: Any, counts: dict[str, int]) -> bool:
    """Whether a list has a flag for each."""
    return listed is OMITTED or len(listed) == counts[body.__name__]


def plain(V: str, body: Any) -> bool:
    """The types that are not among some meet one body."""
    return V in SOME or body is delay


LISTS = [
    fits,
    plain,
    lambda body, scan_input_axes: one_each(body, scan_input_axes, SCANNED),
    lambda body, scan_input_directions: one_each(body, scan_input_directions, SCANNED),
    lambda body, scan_output_axes: one_each(body, scan_output_axes, GIVEN),
    lambda body, scan_output_directions: one_each(body, scan_output_directions, GIVEN),
]
PAIRS = ([1, 0], [0, 1], [1, 1])


@operator(
    "Scan",
    since=(25, 24, 23, 21, 19, 16, 11),
    exact=True,
    constraints=LISTS,
    body=(delay, cross, last, outer),
    num_scan_inputs=(1, 2),
    scan_input_axes=(OMITTED, [1], [-1], [0], [2, 0], [-2, -1]),
    scan_input_directions=(OMITTED, [1], [0], *PAIRS),
    scan_output_axes=(OMITTED, [1], [-1], [2], [0, 2], [-3, 1]),
    scan_output_directions=(OMITTED, [1], [0], *PAIRS),
)
def scan(
    *initial_state_and_scan_inputs: Typed,
    body: Graph,
    num_scan_inputs: int,
    scan_input_axes: list[int] | None,
    scan_input_directions: list[int] | None,
    scan_output_axes: list[int] | None,
    scan_output_directions: list[int] | None,
) -> tuple[Typed, ...]:
    """The pseudo-code: ``si_1 = scan_1<axis=axis_1>[t]``, then the body, then ``Concat`` of what it gave.

    A direction of 1 reads the input from its end, or prepends to the output.
    """
    split = len(initial_state_and_scan_inputs) - num_scan_inputs
    states, scanned = list(initial_state_and_scan_inputs[:split]), initial_state_and_scan_inputs[split:]
    axes = scan_input_axes or [0] * num_scan_inputs
    lines = [
        Typed(x.of, np.flip(lead, 0) if reverse else lead)
        for x, axis, reverse in zip(scanned, axes, scan_input_directions or [0] * num_scan_inputs, strict=True)
        for lead in [np.moveaxis(np.asarray(x.value), axis, 0)]
    ]
    states, seen = iterated(body, states, lines, len(np.asarray(lines[0].value)))
    given = len(body.outputs) - len(states)
    output_axes, prepended = scan_output_axes or [0] * given, scan_output_directions or [0] * given
    ports = zip(body.types[len(states) :], body.shapes[len(states) :], strict=True)
    return (
        *states,
        *(
            concatenated([one[k] for one in (reversed(seen) if prepended[k] else seen)], *port, output_axes[k])
            for k, port in enumerate(ports)
        ),
    )


def iterated(
    body: Graph, states: list[Typed], lines: Sequence[Typed], length: int
) -> tuple[list[Typed], list[list[Typed]]]:
    """The final states, and what the body gave each time."""
    seen: list[list[Typed]] = []
    for t in range(length):
        given = body(*states, *(Typed(x.of, np.asarray(np.asarray(x.value)[t])) for x in lines))
        states, rest = given[: len(states)], given[len(states) :]
        seen.append(rest)
    return states, seen


scan_9 = operator(
    "Scan",
    since=9,
    exact=True,
    constraints=LISTS,
    body=(delay, cross, last, outer),
    num_scan_inputs=(1, 2),
    scan_input_axes=(OMITTED, [1], [2], [0], [2, 0]),
    scan_input_directions=(OMITTED, [1], [0], *PAIRS),
    scan_output_axes=(OMITTED, [1], [2], [0, 2]),
    scan_output_directions=(OMITTED, [1], [0], *PAIRS),
)(scan.oracle)
"""Negative axes are of version 11."""


@operator(
    "Scan",
    since=8,
    exact=True,
    constraints=[fits, plain, lambda body, directions: one_each(body, directions, SCANNED)],
    body=(delay, cross, last),
    num_scan_inputs=(1, 2),
    directions=(OMITTED, [1], [0], *PAIRS),
)
def scan_8(
    sequence_lens: Typed | None = None,
    *initial_state_and_scan_inputs: Typed,
    body: Graph,
    num_scan_inputs: int,
    directions: list[int] | None,
) -> tuple[Typed, ...]:
    """Axis 0 is that of the batches and axis 1 that of the sequence; each batch has its own states and length.

    "Only first N values will be meaningful" of scan outputs; the others are here as if all were.
    """
    split = len(initial_state_and_scan_inputs) - num_scan_inputs
    states, scanned = initial_state_and_scan_inputs[:split], initial_state_and_scan_inputs[split:]
    batches: list[list[Typed]] = []
    for batch in range(len(np.asarray(scanned[0].value))):
        lines = [Typed(x.of, np.asarray(x.value)[batch]) for x in scanned]
        length = len(np.asarray(lines[0].value))
        count = length if sequence_lens is None else int(np.asarray(sequence_lens.value)[batch])
        turned = [
            Typed(x.of, np.flip(np.asarray(x.value)[:count], 0) if reverse else x.value)
            for x, reverse in zip(lines, directions or [0] * num_scan_inputs, strict=True)
        ]
        before = [Typed(x.of, np.asarray(np.asarray(x.value)[batch])) for x in states]
        after, seen = iterated(body, before, turned, count)
        padded = [*seen, *seen[-1:] * (length - count)]
        ports = zip(body.types[split:], body.shapes[split:], strict=True)
        outputs = (concatenated([one[k] for one in padded], *port) for k, port in enumerate(ports))
        batches.append([*after, *outputs])
    return tuple(
        Typed(each[0].of, np.stack([np.asarray(one.value) for one in each])) for each in zip(*batches, strict=True)
    )


def inputs(draw: Draw, length: int, axes: Sequence[int], batch: tuple[int, ...] = ()) -> tuple[Typed, ...]:
    """States, then inputs of so many elements along their axes."""
    body = draw.attributes["body"]
    states = len(body.input) - SCANNED[body.name]
    shapes: list[tuple[int, ...]] = []
    for axis in axes:
        at = axis if axis >= 0 else axis + len(ELEMENT) + 1
        shapes.append((*batch, *ELEMENT[:at], length, *ELEMENT[at:]))
    return tuple(of_type(draw, shape) for shape in [(*batch, *ELEMENT)] * states + shapes)


def drawn(draw: Draw, length: int) -> Sample:
    """Inputs of so many elements, and what the body takes from outside."""
    stated = draw.attributes["scan_input_axes"]
    axes = [0] * draw.attributes["num_scan_inputs"] if stated is OMITTED else stated
    around = {"x": of_type(draw, ELEMENT), "flag": typed("tensor(bool)", np.array(draw.integer(0, 1) == 1))}
    given = inputs(draw, length, axes)
    return Sample({"initial_state_and_scan_inputs": given}, outer=outside([draw.attributes["body"]], around))


for one in (scan, scan_9):

    @one.inputs()
    def ordinary(draw: Draw) -> Iterator[Sample]:
        """Four elements."""
        yield drawn(draw, 4)

    @one.inputs(V=("float", "string"))
    def lengths(draw: Draw) -> Iterator[Sample]:
        """One element, and none at all: initial states come out, and scan outputs have no elements."""
        yield drawn(draw, 1)
        yield drawn(draw, 0)


@scan_8.inputs()
def batches(draw: Draw) -> Iterator[Sample]:
    """Five batches of four elements each."""
    axes = [0] * draw.attributes["num_scan_inputs"]
    yield Sample({"initial_state_and_scan_inputs": inputs(draw, 4, axes, (5,))})
    yield Sample(
        {
            "sequence_lens": np.full(5, 4, np.int64),
            "initial_state_and_scan_inputs": inputs(draw, 4, axes, (5,)),
        }
    )


@scan_8.inputs(lambda body: body is last, V=("float", "string"))
def shorter(draw: Draw) -> Iterator[Sample]:
    """Sequences shorter than the axis, and states alone: what remains of scan outputs has "an undefined value"."""
    lens = np.array([4, 1, 3, 2, 4], np.int64)
    yield Sample({"sequence_lens": lens, "initial_state_and_scan_inputs": inputs(draw, 4, [0], (5,))})
