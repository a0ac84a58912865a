"""Adapters: one module per backend, and beside it the backend's known failures (``<name>.expected.toml``)."""
