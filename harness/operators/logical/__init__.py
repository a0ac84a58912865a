"""ONNX's category ``logical``: a module an operator or a family of near-identical ones."""
