"""What each operator means: one file an operator, in a folder for each of ONNX's categories."""
