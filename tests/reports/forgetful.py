"""A backend with known faults: it ignores ``exclusive`` and does not support double."""

import onnx

from backends.numpy import NumpyBackend
from harness.backend.interface import Description, Unsupported


class Forgetful(NumpyBackend):
    def describe(self) -> Description:
        return Description("forgetful", "0.1")

    def prepare(self, model: bytes):
        proto = onnx.load_from_string(model)
        if proto.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE:
            raise Unsupported("no <b>double</b>")
        attributes = [attribute for attribute in proto.graph.node[0].attribute if attribute.name != "exclusive"]
        del proto.graph.node[0].attribute[:]
        proto.graph.node[0].attribute.extend(attributes)
        return super().prepare(proto.SerializeToString())
