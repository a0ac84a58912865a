"""ONNX's category ``quantization``: a module an operator or a family of near-identical ones."""
