"""The HTML page of a run: one file, no script, nothing fetched from anywhere."""
