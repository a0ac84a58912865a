"""The operators of ONNX's category object_detection."""
