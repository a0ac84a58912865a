"""Runs the harness's own oracles as a backend: in float64 and Python integers, rounded after each node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnx.shape_inference

import harness
from harness.backend import Description, PreparedModel, Unsupported, Value
from harness.oracles.evaluate import answer
from harness.oracles.graph import Graph, NoOracle
from harness.oracles.node import Scope
from harness.spec.values import Typed, type_of_proto


class NumpyBackend:
    """Declines graphs with a node that has no oracle."""

    def describe(self) -> Description:
        """Return the versions of the harness and of NumPy."""
        return Description("numpy", harness.__version__, configuration={"numpy": np.__version__})

    def prepare(self, model: bytes) -> PreparedModel:
        """Look up the oracle of every node. Raises Unsupported for the first node that has none."""
        proto = onnx.load_from_string(model)
        if len(proto.graph.node) > 1 or any(a.HasField("g") for node in proto.graph.node for a in node.attribute):
            proto = onnx.shape_inference.infer_shapes(proto)  # for types that a node's inputs do not determine
        opsets = {("" if o.domain == "ai.onnx" else o.domain): o.version for o in proto.opset_import}
        try:
            graph = Graph(proto.graph, Scope(opsets), answer)
        except NoOracle as error:
            raise Unsupported(str(error)) from error
        types = [type_of_proto(value.type) for value in proto.graph.input]

        def run(values: Sequence[Value]) -> Sequence[Value]:
            outputs = graph(*(Typed(of, value) for of, value in zip(types, values, strict=False)))
            return [output.value for output in outputs]

        return run
