"""Runs shell commands that nobody has read: bubblewrap, hard bounds, a private folder. Standard library only."""

from orchestrator.sandbox.bounds import Bounds
from orchestrator.sandbox.box import Box, enclosure
from orchestrator.sandbox.outcome import Outcome
from orchestrator.sandbox.room import NotPlain

__all__ = ["Bounds", "Box", "NotPlain", "Outcome", "enclosure"]
