"""What the format is told beside the messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Options:
    """Arguments of the chat template, and two choices that the template has no words for.

    Attributes:
        reasoning_strength: `high` where it isn't told.
        knowledge_cutoff: a date of the system block that stands in for a missing one.
        current_date: today's where it isn't told; name it wherever tomorrow's tokens must be today's.
        tool_namespace_descriptions: words for what stands before the dot in the names of tools.
        retain_reasoning_in_history: keep the reasoning of turns that others follow, as the template does.
        answer_from_reasoning_fallback: take the last line of the reasoning for the answer where a reply has nothing
            else. Private reasoning then reaches the user; of use where an empty answer can't be scored.
    """

    reasoning_strength: str | None = None
    knowledge_cutoff: str | None = None
    current_date: str | None = None
    tool_namespace_descriptions: Mapping[str, str] = field(default_factory=dict)
    retain_reasoning_in_history: bool = True
    answer_from_reasoning_fallback: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """From a mapping that may hold other things too (`tools`, say)."""
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in known and value is not None})

    @property
    def date(self) -> str:
        """The date as the system block writes it."""
        return self.current_date or datetime.now().strftime("%Y-%m-%d")
