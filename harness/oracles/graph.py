"""What a graph gives: its nodes one after another, each by its operator's oracle, rounded into their types."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import onnx

from harness.errors import UsageError
from harness.oracles.node import Call, Scope
from harness.oracles.operator import Inputs, Operator, find
from harness.spec.codec import from_proto
from harness.spec.element_types import element_type
from harness.spec.schema import Schema, UnknownOperator, schema_at
from harness.spec.values import TensorType, Typed, ValueType, proto_of_type, type_of_proto


class NoOracle(UsageError):
    """A graph has a node of an operator that has no oracle, or that no domain it imports defines."""


Answer: TypeAlias = Callable[[Call], Sequence[Typed]]
"""Gives the outputs of a node."""


class Graph:
    """A graph whose nodes, in topological order as ONNX requires, have their meaning looked up."""

    def __init__(self, proto: onnx.GraphProto, scope: Scope, answer: Answer) -> None:
        """Raises NoOracle for the first node that has none, in graphs inside too."""
        self.outputs = [value.name for value in proto.output]
        self._scope, self._answer = scope, answer
        self._inputs = [value.name for value in proto.input]
        # Of a single node the graph's own outputs tell the types.
        inferred = _inferred(proto, scope) if len(proto.node) > 1 else []
        infos = (*inferred, *proto.input, *proto.value_info, *proto.output)
        self._shapes = {i.name: _static_shape(i) for i in proto.output}
        self._declared = {i.name: type_of_proto(i.type) for i in infos if i.type.WhichOneof("value")}
        self._initializers = {tensor.name: _typed(tensor) for tensor in proto.initializer}
        self._nodes = _meanings(proto, scope.opsets)

    @property
    def types(self) -> list[ValueType]:
        """The types that the graph states of its outputs."""
        return [self._declared[name] for name in self.outputs]

    @property
    def shapes(self) -> list[tuple[int, ...] | None]:
        """The shapes that the graph states of its outputs, as far as they are numbers."""
        return [self._shapes[name] for name in self.outputs]

    def __call__(self, *values: Typed) -> list[Typed]:
        """The outputs for these inputs."""
        known = {**self._scope.values, **self._initializers, **dict(zip(self._inputs, values, strict=False))}
        nodes = [node for node, _, _ in self._nodes]
        for node, version, operator in self._nodes:
            given = _inputs(version, [known[name] if name else None for name in node.input])
            call = Call(
                operator,
                version,
                self._bound(node, version, given),
                given,
                {a.name: _attribute(a) for a in node.attribute},
                outputs=len(node.output),
                scope=Scope(self._scope.opsets, known, nodes),
            )
            known.update((name, output) for name, output in zip(node.output, self._answer(call), strict=False) if name)
        return [known[name] for name in self.outputs]

    def _bound(self, node: onnx.NodeProto, version: Schema, inputs: Inputs) -> dict[str, str]:
        """What the type variables stand for: by the inputs, else by what is declared, or can only be."""
        bound = {variable: types[0] for variable, types in version.variables.items() if len(types) == 1}
        for p in version.inputs:
            values = inputs.get(p.name, ())
            for value in values if p.option == "variadic" else [values] if values else []:
                bound.setdefault(p.type_str, str(value.of))
        for p, name in zip(version.outputs, node.output, strict=False):
            if name in self._declared:
                bound.setdefault(p.type_str, str(self._declared[name]))
        for p, name in itertools.zip_longest(version.outputs, node.output[: len(version.outputs)]):
            if not name:  # an output that is left out has no type, and any will do
                bound.setdefault(p.type_str, p.types[0])
        return bound


def _inferred(proto: onnx.GraphProto, scope: Scope) -> list[onnx.ValueInfoProto]:
    """The types of values inside that inputs do not tell, as the output of a Cast."""
    graph = onnx.GraphProto()
    graph.CopyFrom(proto)
    known = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    for name, value in scope.values.items():
        if name not in known:
            graph.input.add(name=name).type.CopyFrom(proto_of_type(value.of, None))
    opsets = [onnx.helper.make_operatorsetid(domain, version) for domain, version in scope.opsets.items()]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    return list(onnx.shape_inference.infer_shapes(model).graph.value_info)


def _static_shape(value: onnx.ValueInfoProto) -> tuple[int, ...] | None:
    tensor = value.type.tensor_type
    known = tensor.HasField("shape") and all(dim.HasField("dim_value") for dim in tensor.shape.dim)
    return tuple(dim.dim_value for dim in tensor.shape.dim) if known else None


def _typed(tensor: onnx.TensorProto) -> Typed:
    of = TensorType(element_type(tensor.data_type))
    return Typed(of, from_proto(tensor, of))


def _meanings(proto: onnx.GraphProto, opsets: Mapping[str, int]) -> list[tuple[onnx.NodeProto, Schema, Operator]]:
    """Each node with its meaning. Raises NoOracle, for nodes of graphs inside too."""
    for node in proto.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _meanings(attribute.g, opsets)
    return [(node, *_meaning(node, opsets)) for node in proto.node]


def _meaning(node: onnx.NodeProto, opsets: Mapping[str, int]) -> tuple[Schema, Operator]:
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        version = schema_at(node.op_type, opsets.get(domain, 0), domain)
    except UnknownOperator as error:
        raise NoOracle(str(error)) from error
    operator = find(version.op, version.since, version.domain)
    if operator is None:
        raise NoOracle(f"no oracle yet for {version.title}")
    return version, operator


def _inputs(version: Schema, values: list[Typed | None]) -> Inputs:
    """A node's inputs by the schema's names; what is left over belongs to the last, variadic one."""
    found: dict[str, Any] = {}
    for i, p in enumerate(version.inputs):
        if p.option == "variadic":
            found[p.name] = tuple(values[i:])
        elif i < len(values) and values[i] is not None:
            found[p.name] = values[i]
    return found


def _attribute(attribute: onnx.AttributeProto) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    return value.decode() if isinstance(value, bytes) else value
