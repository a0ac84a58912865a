"""Results of runs: result lines, reading and writing them, and expectations."""
