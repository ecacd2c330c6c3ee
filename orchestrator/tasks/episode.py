"""A finished episode, as rewards see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from orchestrator.tasks.message import Message, text
from orchestrator.tasks.sample import Sample

End = Literal["done", "turns", "tokens"]


@dataclass(frozen=True)
class Episode:
    """What happened.

    Attributes:
        sample: what it was about.
        messages: the whole conversation, the opening included.
        opening: how many of the messages the environment opened with.
        rewards: what the environment gave, one mapping for each message it answered.
        end: `done` when the environment said so; `turns` or `tokens` when a limit cut it off.
    """

    sample: Sample
    messages: tuple[Message, ...]
    opening: int
    rewards: tuple[Mapping[str, float], ...] = ()
    end: End = "done"

    @property
    def truncated(self) -> bool:
        """Whether a limit ended it."""
        return self.end != "done"

    @property
    def said(self) -> tuple[Message, ...]:
        """The model's own messages."""
        return tuple(m for m in self.messages[self.opening :] if m.get("role") == "assistant")

    @property
    def turns(self) -> int:
        """How often the model spoke."""
        return len(self.said)

    @property
    def answer(self) -> str:
        """The text of the model's last message; empty when it never spoke."""
        return text(self.said[-1]) if self.said else ""

    def total(self, name: str) -> float:
        """Sum of one of the environment's numbers over the turns."""
        return sum(given.get(name, 0.0) for given in self.rewards)

    def latest(self, name: str, default: float = 0.0) -> float:
        """The newest value of one of the environment's numbers."""
        return next((given[name] for given in reversed(self.rewards) if name in given), default)
