"""Building the graphs in the attributes of If, Loop and Scan, and finding what they take from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import onnx
import onnx.parser

from harness.oracles.draw import Draw
from harness.spec.schema import schema
from harness.spec.values import Typed, Value, parse_type, proto_of_type

INT64, BOOL = "tensor(int64)", "tensor(bool)"

Ports: TypeAlias = Mapping[str, str | tuple[str, tuple[int, ...]]]
"""The inputs or outputs of a graph: name → type, or type and shape."""

SOME = ("tensor(float)", "tensor(int64)", "tensor(string)", "seq(tensor(float))", "optional(tensor(float))")
"""Types that meet every graph; the others meet the plainest."""
MOVED = (*SOME, "tensor(bfloat16)", "seq(tensor(string))", "optional(seq(tensor(int64)))", "optional(tensor(uint4))")
"""Types that meet what is not about types."""
ABSENT = tuple(of for of in MOVED if of.startswith("optional"))

_TAKEN = frozenset(schema("Identity", 25).variables["V"])
_SEQUENCES = frozenset(schema("SequenceErase", 11).variables["S"])
"""Sequences that operators other than Identity take, which takes none before opset 14."""


def graph(name: str, inputs: Ports, outputs: Ports, *nodes: str | onnx.NodeProto) -> onnx.GraphProto:
    """A graph of nodes in ONNX's textual form, e.g. ``y = Concat <axis = 0> (a, b)``."""
    made = onnx.GraphProto(name=name)
    made.node.extend(onnx.parser.parse_node(node) if isinstance(node, str) else node for node in nodes)
    for infos, ports in ((made.input, inputs), (made.output, outputs)):
        for port, stated in ports.items():
            of, shape = stated if isinstance(stated, tuple) else (stated, None)
            infos.add(name=port).type.CopyFrom(proto_of_type(parse_type(of), shape))
    return made


def move(of: str, source: str, target: str, flag: str) -> str | onnx.NodeProto:
    """The plainest node that gives a value of a type on: a sequence perhaps without its last tensor.

    Sequences and optionals of newer element types no operator takes but those of control flow: a loop, then, that
    runs once if the flag is true, or never, and leaves the value as it is.
    """
    if of in _TAKEN:
        return f"{target} = {'SequenceErase' if of in _SEQUENCES else 'Identity'} ({source})"
    inputs: Ports = {"round": (INT64, ()), "again": (BOOL, ()), "held": of}
    body = graph("hold", inputs, {"enough": (BOOL, ()), "held": of}, constant("enough", False))
    return node("Loop", ["", flag, source], [target], body=body)


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **bodies: onnx.GraphProto) -> onnx.NodeProto:
    """A node with graphs in its attributes."""
    made = onnx.helper.make_node(op, inputs, outputs)
    made.attribute.extend(onnx.helper.make_attribute(name, body) for name, body in bodies.items())
    return made


def constant(name: str, value: bool) -> onnx.NodeProto:
    """A node that gives a Boolean."""
    tensor = onnx.helper.make_tensor(name, onnx.TensorProto.BOOL, (), [value])
    return onnx.helper.make_node("Constant", [], [name], value=tensor)


def free(body: onnx.GraphProto) -> set[str]:
    """The names that a graph, or one inside it, uses and does not define."""
    defined = {value.name for value in body.input} | {name for node in body.node for name in node.output}
    used = {name for node in body.node for name in node.input if name}
    for node in body.node:
        for attribute in node.attribute:
            used |= free(attribute.g) if attribute.HasField("g") else set()
    return used - defined


def outside(bodies: Sequence[onnx.GraphProto], values: Mapping[str, Typed]) -> dict[str, Typed]:
    """Of these values the ones that a graph takes from outside."""
    names = set().union(*map(free, bodies))
    return {name: value for name, value in values.items() if name in names}


def of_type(draw: Draw, *shapes: Sequence[int], variable: str = "V") -> Typed:
    """An ordinary value of the type that a variable stands for, with that type."""
    return Typed(parse_type(draw.types[variable]), draw.value(variable, *shapes))


def typed(of: str, value: Value) -> Typed:
    """A value of a type that a schema spells so."""
    return Typed(parse_type(of), value)
