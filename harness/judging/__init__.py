"""What is right: measures, comparison and verdicts."""
