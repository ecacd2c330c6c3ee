"""What an attempt is worth: a graded table, so that siblings differ long before one of them is right.

    1.00  the right number in answer.json
    0.45  a well-formed file with another number
    0.20  a malformed file
    0.05  a command that worked, but no file
    0.00  no command that worked

A repeat of a command that failed before costs 0.05 of a partial reward, never below nothing; a right answer costs none.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from orchestrator.sandbox import NotPlain

FILE = "answer.json"
LARGEST = 4096
"""Bytes of an answer that is worth reading."""


@dataclass(frozen=True)
class Credits:
    """The steps of the table; all zero leaves 1 for the right number and 0 for the rest."""

    ran_ok: float = 0.05
    file_exists: float = 0.15
    file_parses: float = 0.25
    repeat: float = 0.05


@dataclass(frozen=True)
class Attempt:
    """Where an attempt stands.

    Attributes:
        worked: commands that ended well.
        repeats: commands that repeat one which failed before.
        file: what lies under answer.json; None for nothing, or why it can't be read.
    """

    worked: int
    repeats: int
    file: bytes | NotPlain | None


def grade(attempt: Attempt, right: float, credits: Credits) -> float:
    """From 0 to 1, by the table."""
    if not attempt.worked:
        return 0.0
    given = parsed(attempt.file)
    if given is not None and same(given, right):
        return 1.0
    earned = credits.ran_ok
    earned += credits.file_exists if attempt.file is not None else 0.0
    earned += credits.file_parses if given is not None else 0.0
    return max(0.0, earned - credits.repeat * attempt.repeats)


def parsed(content: bytes | NotPlain | None) -> float | None:
    """The number of a well-formed answer, `{"answer": NUMBER}`; None for anything else."""
    if not isinstance(content, bytes):
        return None
    try:
        value = json.loads(content)["answer"]
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return number if math.isfinite(number) else None


def same(given: float, right: float) -> bool:
    """Equal to half of the last decimal that questions ask for."""
    return abs(given - right) <= 0.005 + 1e-9 * abs(right)
