"""Running: worker processes, the pool, and a run over a suite."""
