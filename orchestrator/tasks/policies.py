"""Policies without a model: what `try` and `check` play, and what tests play against."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.tasks.message import Message, Tool, assistant
from orchestrator.tasks.playing import Policy

GARBAGE = "zq \u2603 {]<|~ 0x? \\boxed{ <answer> null"
"""Not an answer to anything, with the marks that a careless parser stumbles over."""


def speaking(*messages: Message) -> Policy:
    """Says these messages one after the other, and the last of them again when there are no more."""
    said = 0

    async def policy(_so_far: Sequence[Message], _tools: Sequence[Tool]) -> Message:
        nonlocal said
        said += 1
        return messages[min(said, len(messages)) - 1]

    return policy


def empty() -> Policy:
    """Says nothing at all."""
    return speaking(assistant(""))


def garbage() -> Policy:
    """Says something that is no answer."""
    return speaking(assistant(GARBAGE))
