"""Help for adapter authors: probes, check-backend and repro."""
