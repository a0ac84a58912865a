"""ONNX's category ``controlflow``: a module an operator, and what their graphs are built of."""
