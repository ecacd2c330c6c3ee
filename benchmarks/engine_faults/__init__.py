"""Faults that arise while an engine works: a save, a load, a template, a reward. The rest is in `benchmarks.faults`."""
