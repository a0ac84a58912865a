"""ONNX's category ``tensor``: a module an operator or a family of near-identical ones."""
