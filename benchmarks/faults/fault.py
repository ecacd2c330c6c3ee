"""A fault, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchmarks.faults.lab import Lab, Said

Words = Callable[[Lab, bool], list[str]]
"""(lab, whether to put the fault in) -> argv of post-train. Without the fault the same steps must pass."""

Verdict = Literal["refused", "told", "missed"]

_WHERE = {2: "reading flags and recipe", 3: "plan", 5: "plan", 6: "plan", 8: "worker", 9: "hand-off"}


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        kind: its theme, e.g. D5: a download that is no data.
        says: pattern that a message about it holds; a failure that says something else has not caught it.
        engine: it takes an engine environment, and longer.
    """

    kind: str
    name: str
    words: Words
    says: str
    engine: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a fault and of its twin. Advice that names the fault and lets it go on is `told`."""

    fault: Fault
    faulty: Said
    twin: Said

    @property
    def verdict(self) -> Verdict:
        """How the fault ended."""
        if not self.message:
            return "missed"
        return "refused" if self.faulty.code else "told"

    @property
    def where(self) -> str:
        """Where it was caught."""
        if self.verdict != "refused":
            return "plan, advice" if self.verdict == "told" else ""
        return _WHERE.get(self.faulty.code, f"exit code {self.faulty.code}")

    @property
    def message(self) -> str:
        """The sentence that names it."""
        return next((line for line in self.faulty.messages if self._names(line)), "")

    @property
    def false_alarm(self) -> bool:
        """The clean twin was refused, or told of the same fault."""
        return self.twin.code != 0 or any(map(self._names, self.twin.messages))

    def _names(self, line: str) -> bool:
        return re.search(self.fault.says, line, re.IGNORECASE) is not None
