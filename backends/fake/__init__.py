"""A stand-in engine: a real process that trains nothing. For tests of everything around an engine."""
