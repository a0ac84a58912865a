"""The operators of ONNX's category text."""
