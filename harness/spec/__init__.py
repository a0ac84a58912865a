"""What ONNX says: its schemas, its element types and the form of its tensors on disk."""
