"""A finding: something `plan` noticed. Errors stop a run before launch, advice does not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from orchestrator.spec import Part

Level = Literal["error", "advice", "note"]


class Finding(Part):
    """One thing that a person should know before a run.

    Attributes:
        code: stable dotted name, e.g. `hp.learning_rate`; a recipe may accept advice by it.
        level: `error` refuses the run, `advice` is printed, `note` is printed dimly.
        message: what, and why it matters.
        fix: the edit or command that mends it.
        where: `file:line`, flag or setting it comes from.
        accepted: the recipe lists the code under `accept`.
    """

    code: str
    level: Level
    message: str
    fix: str | None = None
    where: str | None = None
    accepted: bool = False


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Those that refuse the run."""
    return [f for f in findings if f.level == "error"]


def accept(findings: Iterable[Finding], codes: Iterable[str]) -> list[Finding]:
    """Mark advice that the recipe accepts; an error can't be accepted."""
    known = set(codes)
    return [f.model_copy(update={"accepted": True}) if f.code in known and f.level == "advice" else f for f in findings]
