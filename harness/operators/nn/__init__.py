"""The operators of ONNX's category nn."""
