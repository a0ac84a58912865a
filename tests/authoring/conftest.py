"""Uses the fixtures of ``tests/support/tiny_runs.py``."""

from tiny_runs import isolated_workers, runs, suite, tools

__all__ = ["isolated_workers", "runs", "suite", "tools"]
