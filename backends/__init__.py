"""Adapters: a module a backend, and beside it what it is known to get wrong (``<name>.expected.toml``)."""
