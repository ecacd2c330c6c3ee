"""One step of an installation: a process whose output goes to the log, with a line now and then for the user."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator import process

_QUIET, _EVERY = 2.0, 5.0
"""Seconds before the first line about a step that takes long, and between further ones."""


@dataclass(frozen=True)
class Step:
    """What a step does, in words, and how; `variables` go on top of the installer's own."""

    label: str
    argv: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


def run(step: Step, log: Path, env: Mapping[str, str], claim: int, say: Callable[[str], None]) -> bool:
    """Run a step in the log's folder; True when it went well. The child holds the descriptor `claim` open."""
    say(step.label)
    with log.open("a", encoding="utf-8") as file:
        file.write(header(step))
    child = process.Child(
        step.argv, cwd=log.parent, env={**env, **step.variables}, stdout=log, stderr=log, inherit=(claim,)
    )
    try:
        return _watch(child, log, say) == 0
    finally:
        if child.poll() is None:
            child.kill()


def header(step: Step) -> str:
    """The line that begins a step in the log."""
    return f"== {step.label}\n"


def _watch(child: process.Child, log: Path, say: Callable[[str], None]) -> int:
    began, due = time.monotonic(), _QUIET
    while (code := child.wait(0.1)) is None:
        spent = time.monotonic() - began
        if spent > due:
            due = spent + _EVERY
            say(f"  {spent:.0f} s: {_last_line(log)}")
    return code


def _last_line(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 2000))
        lines = file.read().decode(errors="replace").splitlines()
    return next((line.strip()[:100] for line in reversed(lines) if line.strip()), "")
