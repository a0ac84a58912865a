"""The operators of ONNX's category rnn."""
