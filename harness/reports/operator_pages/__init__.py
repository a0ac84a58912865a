"""The operator pages: for each operator version ONNX's documentation, examples, and results."""
