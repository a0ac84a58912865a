"""Verdicts: error measures, comparison of outputs, and tests of random distributions."""
