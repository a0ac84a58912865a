"""The operators of ONNX's category traditionalml."""
