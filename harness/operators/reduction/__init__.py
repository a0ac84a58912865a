"""ONNX's category ``reduction``: a module an operator or a family of near-identical ones."""
