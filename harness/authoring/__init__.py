"""Tools for authors of adapters: check-backend with its probes, and repro."""
