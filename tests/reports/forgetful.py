"""A backend that is wrong in known ways: it leaves out ``exclusive``, and takes no double."""

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
        kept = [attribute for attribute in proto.graph.node[0].attribute if attribute.name != "exclusive"]
        del proto.graph.node[0].attribute[:]
        proto.graph.node[0].attribute.extend(kept)
        return super().prepare(proto.SerializeToString())
