"""What a model acts in: messages in, messages out. One object for each episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.tasks.message import Message, Tool


@dataclass(frozen=True)
class Opening:
    """What the model is given first."""

    messages: list[Message]
    tools: list[Tool] = field(default_factory=list)


@dataclass(frozen=True)
class Reply:
    """What the environment says to one message of the model's.

    Attributes:
        messages: tool results or further user messages; empty at the end.
        done: the episode is over.
        rewards: numbers by name that this turn earned, for rewards to read.
    """

    messages: list[Message] = field(default_factory=list)
    done: bool = False
    rewards: Mapping[str, float] = field(default_factory=dict)


class Environment:
    """One episode. Made with a sample; siblings of a group are made with the same one, each on its own.

    What a model writes is no error: a bad tool call is answered in words. An exception stops the run.
    """

    async def init(self) -> Opening:
        """Prepare, and say what the model sees first."""
        raise NotImplementedError

    async def step(self, message: Message) -> Reply:
        """Answer the model's message."""
        raise NotImplementedError

    async def close(self) -> None:
        """Give back what `init` took; most have nothing to. Called once, whatever happened."""
