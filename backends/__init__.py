"""Engines behind the port, one folder each; found by name, never by a list."""
