"""Report formats. Everything is computed from result lines, plus the tensors to show."""
