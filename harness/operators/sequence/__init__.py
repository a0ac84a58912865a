"""ONNX's category ``sequence``: a module an operator or a few that belong together."""
