"""What a backend answers: the protocol, workers in their own processes, the comparison, verdicts and result lines."""
