"""One node of an operator: what planning chooses of it, and the call with its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import onnx

from harness.oracles.operator import OMITTED, Inputs, Operator, Sample
from harness.spec.element_types import Bits
from harness.spec.schema import Parameter, Schema
from harness.spec.values import Typed, parse_type


class Scope(msgspec.Struct, frozen=True, eq=False):
    """What a graph sees of the model around it."""

    opsets: Mapping[str, int]
    """The version that the model imports of each domain, ai.onnx by the empty name."""
    values: Mapping[str, Typed] = {}
    """The values of the graphs outside, by name."""
    nodes: Sequence[onnx.NodeProto] = ()
    """The nodes of the graph itself."""


NOTHING = Scope({})
"""Around a node without graphs in its attributes."""


class Node(msgspec.Struct, frozen=True, eq=False):
    """An operator version with types and attributes: everything of a node but its values."""

    operator: Operator
    version: Schema
    types: Mapping[str, str]
    """Type variable → the type it stands for, as schemas spell it."""
    attributes: Mapping[str, Any]
    """As the oracle's file gives them; ``OMITTED`` among them."""

    def call(self, sample: Sample) -> Call:
        """The node with these inputs."""
        scope = Scope(opsets_of(self.version, self.attributes, sample.nodes), sample.outer, sample.nodes)
        return Call(self.operator, self.version, self.types, sample.inputs, self.attributes, sample.outputs, scope)


class Call(msgspec.Struct, frozen=True, eq=False):
    """One node and its inputs."""

    operator: Operator
    version: Schema
    types: Mapping[str, str]
    """Type variable → the type it stands for, as schemas spell it."""
    inputs: Inputs
    attributes: Mapping[str, Any]
    """As the oracle's file gives them; ``OMITTED`` among them."""
    outputs: int = 0
    """How many outputs the node has, those left out before the last included; 0 where the rest says it."""
    scope: Scope = NOTHING

    def is_exact(self) -> bool:
        """Whether nothing is rounded."""
        return self._holds(self.operator.exact) or self.moves()

    def moves(self) -> bool:
        """Whether values are only moved."""
        return self._holds(self.operator.moves)

    def bits(self) -> Bits:
        """Which bits of equal floats must match."""
        return "all" if self.moves() else self.operator.bits

    def spells_numbers(self) -> bool:
        """Whether strings in the outputs are compared as the numbers that they spell."""
        return self._holds(self.operator.numbers)

    def _holds(self, rule: bool | Callable[..., bool]) -> bool:
        if isinstance(rule, bool):
            return rule
        known = {**self.attributes, **self.types}
        return rule(**{name: known.get(name, OMITTED) for name in inspect.signature(rule).parameters})

    def arguments(self) -> dict[str, Typed]:
        """The inputs that are there, by name, in the graph's order."""
        return {name: _typed(value, p, self.types) for name, p, value in named_inputs(self.version, self.inputs)}

    def positional(self) -> Iterator[Typed | None]:
        """The inputs in the schema's order: None for one that is omitted, each of a variadic one."""
        for p in self.version.inputs:
            if p.option == "variadic":
                yield from (_typed(value, p, self.types) for value in self.inputs[p.name])
            else:
                yield _typed(self.inputs[p.name], p, self.types) if p.name in self.inputs else None


INSIDE = 26
"""The opset of ai.onnx that graphs in the attributes of other domains' operators, and nodes beside, are written in."""


def opsets_of(version: Schema, attributes: Mapping[str, Any], nodes: Sequence[onnx.NodeProto] = ()) -> dict[str, int]:
    """What the model imports: the operator's domain, and ai.onnx if nodes of that are inside or beside another's."""
    others = bool(nodes) or any(isinstance(value, onnx.GraphProto) for value in attributes.values())
    return {version.domain: version.since} | ({"": INSIDE} if version.domain and others else {})


def named_inputs(version: Schema, inputs: Inputs) -> Iterator[tuple[str, Parameter, Any]]:
    """Name, parameter and value of each input that is there, in the graph's order; a variadic x is x_0, x_1 …"""
    for p in version.inputs:
        if p.option == "variadic":
            yield from ((f"{p.name}_{i}", p, value) for i, value in enumerate(inputs[p.name]))
        elif p.name in inputs:
            yield p.name, p, inputs[p.name]


def _typed(value: Any, of: Parameter, types: Mapping[str, str]) -> Typed:
    return value if isinstance(value, Typed) else Typed(parse_type(types.get(of.type_str, of.type_str)), value)
