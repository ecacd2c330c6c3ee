"""How a command ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Ending = Literal["exit", "time", "memory", "disk", "output", "refused"]


@dataclass(frozen=True)
class Outcome:
    """What came of one command.

    Attributes:
        code: exit code; negative when a bound or a signal ended it.
        output: what it printed, both streams in order, as far as it was read.
        ending: `exit` when it ended by itself, else the bound it broke; `refused` when it could not be started at all.
    """

    code: int
    output: str
    ending: Ending = "exit"

    @property
    def ok(self) -> bool:
        """Whether it ended by itself and well."""
        return self.ending == "exit" and self.code == 0
