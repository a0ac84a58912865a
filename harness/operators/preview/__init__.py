"""ONNX's category ``preview``: a module an operator."""
