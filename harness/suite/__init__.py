"""Which cases exist: planning, cases, their directories and manifest, and ONNX's official tests."""
