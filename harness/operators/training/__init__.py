"""The operators of ONNX's category training."""
