"""SequenceMap: a graph that is run for each element of a sequence."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from harness.operators.controlflow.graphs import SOME, graph, of_type, outside
from harness.oracles.draw import Draw
from harness.oracles.graph import Graph
from harness.oracles.operator import Sample, Types, operator
from harness.spec.values import SequenceType, Typed, parse_type

SHAPES = ((2, 3), (4,), (), (0, 2))


def element(types: Types, variable: str) -> str:
    """The type of what the graph gets: one of the sequence's tensors, or the tensor itself."""
    of = parse_type(types[variable])
    return str(of.of if isinstance(of, SequenceType) else of)


def alone(types: Types) -> onnx.GraphProto:
    """Each tensor as it is."""
    s = element(types, "S")
    return graph("alone", {"x": s}, {"y": s}, "y = Identity (x)")


def cross(types: Types) -> onnx.GraphProto:
    """An additional input, which comes out first, and the shape of each tensor."""
    s, v = element(types, "S"), element(types, "V")
    nodes = ("y = Identity (z)", "w = Identity (x)", "n = Shape (x)")
    return graph("cross", {"x": s, "z": v}, {"y": v, "w": s, "n": "tensor(int64)"}, *nodes)


def outer(types: Types) -> onnx.GraphProto:
    """A value from outside in front of each tensor."""
    s = element(types, "S")
    flat = "flat = Reshape (x, minus)"
    return graph("outer", {"x": s}, {"y": s}, flat, "y = Concat <axis = 0> (k, flat)")


@operator(
    "SequenceMap",
    since=17,
    exact=True,
    constraints=[
        lambda S, V: (V in SOME[:4] and S == "seq(tensor(float))") or S in (V, f"seq({V})"),
        lambda S, V, body: body is cross or S == V,
        lambda S, body: body is not outer or S in ("seq(tensor(float))", "seq(tensor(string))"),
    ],
    body=(cross, alone, outer),
)
def sequence_map(input_sequence: Typed, *additional_inputs: Typed, body: Graph) -> tuple[Typed, ...]:
    """For each i "a sample will be extracted from the input sequence(s)", and the graph "applied to it"."""
    assert isinstance(input_sequence.value, list)
    mapped = [
        body(*(sample(x, i) for x in (input_sequence, *additional_inputs))) for i in range(len(input_sequence.value))
    ]
    return tuple(Typed(SequenceType(of), [one[k].value for one in mapped]) for k, of in enumerate(body.types))


def sample(of: Typed, i: int) -> Typed:
    """The i-th tensor of a sequence, or a tensor as it is."""
    if isinstance(of.of, SequenceType):
        assert isinstance(of.value, list)
        return Typed(of.of.of, of.value[i])
    return of


def drawn(draw: Draw, count: int) -> Sample:
    """A sequence of so many tensors, and what else the graph wants."""
    shapes = [SHAPES[i % len(SHAPES)] for i in range(count)]
    others = [SHAPES[-1 - i % len(SHAPES)] for i in range(count)]
    body = draw.attributes["body"]
    additional = (
        (of_type(draw, *(others if draw.types["V"].startswith("seq") else [(5,)])),) if body.name == "cross" else ()
    )
    around = {
        "k": Typed(parse_type(element(draw.types, "S")), draw.S.ordinary((2,))),
        "minus": Typed(parse_type("tensor(int64)"), Draw("minus", {"I": "tensor(int64)"}, {}).I([-1])),
    }
    inputs = {"input_sequence": draw.value("S", *shapes), "additional_inputs": additional}
    return Sample(inputs, outer=outside([body], around))


@sequence_map.inputs()
def ordinary(draw: Draw) -> Iterator[Sample]:
    """Four tensors of different shapes."""
    yield drawn(draw, 4)


@sequence_map.inputs(S=("seq(tensor(float))", "seq(tensor(string))"))
def lengths(draw: Draw) -> Iterator[Sample]:
    """One tensor, and none."""
    yield drawn(draw, 1)
    yield drawn(draw, 0)
