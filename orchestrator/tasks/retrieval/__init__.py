"""Searching passages: an index, a server with Search-R1's interface, and its client."""
