"""An interpreter against a lock and its known conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.backend import EnvLock
from orchestrator.environments import conflicts, pins
from orchestrator.environments.conflicts import Conflict
from orchestrator.environments.probe import Look


@dataclass(frozen=True)
class Comparison:
    """What was found: why it can't be used, what else is worth knowing, and the conflicts among both."""

    problems: list[str]
    differences: list[str]
    conflicts: list[Conflict]


def given(lock: EnvLock, python: Path, look: Look, names: Sequence[str]) -> Comparison:
    """One of the user's own: of these packages, one that is missing is a problem, another version is none."""
    wanted, needed = pins.expected(lock, "cpu", look.markers), pins.required(lock)
    known = conflicts.seen(lock, conflicts.Place(python, look.packages, wanted))
    about = {conflict.package for conflict in known}
    told = pins.differences(wanted, look.packages, [name for name in names if name not in about])
    gone = [text for name, text in told.items() if name in needed and name not in look.packages]
    other = [f"{text}; it may work all the same" for text in told.values() if text not in gone]
    return Comparison([*gone, *_messages(known, "problem")], [*other, *_messages(known, "difference")], known)


def locked(lock: EnvLock, python: Path, look: Look, wanted: Mapping[str, str]) -> Comparison:
    """One that was made from the lock: every difference is a problem."""
    told = pins.differences(wanted, look.packages)
    seen = conflicts.seen(lock, conflicts.Place(python, look.packages, wanted))
    known = [conflict for conflict in seen if conflict.package not in told]
    return Comparison([*told.values(), *_messages(known, "problem")], _messages(known, "difference"), known)


def _messages(known: Sequence[Conflict], level: conflicts.Level) -> list[str]:
    return [conflict.message for conflict in known if conflict.level == level]
