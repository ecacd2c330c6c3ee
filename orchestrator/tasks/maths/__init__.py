"""Mathematical answers: found in a text, and compared."""
