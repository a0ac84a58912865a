"""ONNX's category ``optional``: its three operators in one module."""
