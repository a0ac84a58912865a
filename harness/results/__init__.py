"""What came out of a run: result lines, their recording and expectations."""
