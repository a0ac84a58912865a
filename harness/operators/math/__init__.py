"""ONNX's category ``math``: a module an operator or a family of near-identical ones."""
