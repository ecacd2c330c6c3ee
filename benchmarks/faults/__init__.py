"""Faults that must not pass, each with its clean twin: python -m benchmarks.faults"""
