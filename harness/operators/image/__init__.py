"""The operators of ONNX's category image."""
