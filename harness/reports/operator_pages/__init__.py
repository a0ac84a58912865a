"""The operator pages: what ONNX's document says of each version, its examples, and who passes."""
