"""How it is run: worker processes, the pool and a run over a suite."""
