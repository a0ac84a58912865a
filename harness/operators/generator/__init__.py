"""The operators of ONNX's category generator."""
