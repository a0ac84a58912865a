"""onnx-conformance: which operators a runtime gets right, in every version, element type and attribute combination."""

__version__ = "0.1.0"
