"""The harness's own oracles run over whole graphs, in float64 and Python integers, rounded after each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.shape_inference

import harness
from harness.operators.evaluate import answer, graph_inputs
from harness.operators.operator import Inputs, Operator, find
from harness.running.backend import Runner, Unsupported
from harness.running.results import Description
from harness.spec.codec import from_proto
from harness.spec.schema import Schema, UnknownOperator, schema_at
from harness.spec.values import Value, type_of_proto, type_of_value


class NumpyBackend:
    """Declines every graph with a node that has no oracle yet."""

    def describe(self) -> Description:
        """The harness's version and NumPy's."""
        return Description("numpy", harness.__version__, configuration={"numpy": np.__version__})

    def prepare(self, model: bytes) -> Runner:
        """Looks up the oracle of every node. Raises Unsupported for the first that has none."""
        proto = onnx.load_from_string(model)
        if len(proto.graph.node) > 1:
            proto = onnx.shape_inference.infer_shapes(proto)  # what its inputs do not tell of a value's type
        opsets = {("" if o.domain == "ai.onnx" else o.domain): o.version for o in proto.opset_import}
        return _Graph(proto.graph, opsets).run


class _Graph:
    """A graph with the meaning of each node, which stand in topological order as ONNX requires."""

    def __init__(self, graph: onnx.GraphProto, opsets: dict[str, int]) -> None:
        self.inputs = [value.name for value in graph.input]
        self.outputs = [value.name for value in graph.output]
        self.types = {value.name: str(type_of_proto(value.type)) for value in (*graph.value_info, *graph.output)}
        self.initializers = {
            tensor.name: from_proto(tensor, type_of_proto(onnx.helper.make_tensor_type_proto(tensor.data_type, None)))
            for tensor in graph.initializer
        }
        self.nodes = [(node, *_meaning(node, opsets)) for node in graph.node]

    def run(self, values: Sequence[Value]) -> Sequence[Value]:
        known: dict[str, Value] = self.initializers | dict(zip(self.inputs, values, strict=False))
        for node, version, operator in self.nodes:
            inputs = _inputs(version, [known[name] if name else None for name in node.input])
            attributes = {a.name: _attribute(a) for a in node.attribute}
            outputs = answer(operator, version, self._bind(node, version, inputs), inputs, attributes)
            known |= {name: value for name, value in zip(node.output, outputs, strict=False) if name}
        return [known[name] for name in self.outputs]

    def _bind(self, node: onnx.NodeProto, version: Schema, inputs: Inputs) -> dict[str, str]:
        """What the schema's type variables stand for: by the inputs' values, else by the outputs' declared types."""
        bound = {p.type_str: str(type_of_value(value)) for _, p, value in graph_inputs(version, inputs)}
        for p, name in zip(version.outputs, node.output, strict=False):
            if p.type_str not in bound and name in self.types:
                bound[p.type_str] = self.types[name]
        return bound


def _meaning(node: onnx.NodeProto, opsets: dict[str, int]) -> tuple[Schema, Operator]:
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        version = schema_at(node.op_type, opsets.get(domain, 0), domain)
    except UnknownOperator as error:
        raise Unsupported(str(error)) from error
    operator = find(version.op, version.since, version.domain)
    if operator is None:
        raise Unsupported(f"no oracle yet for {version.title}")
    return version, operator


def _inputs(version: Schema, values: list[Value]) -> Inputs:
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
