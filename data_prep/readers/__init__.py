"""Readers: a file of any container -> batches of rows."""
