"""Which items of an evaluation stand in training data: the same question, or a run of words in both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from data_prep.leaks import windows
from data_prep.row import Message, Row
from data_prep.splits import normal

_COMMON = 3
"""A run of words in more items than this, and in more than a twentieth of them, is their form and no leak."""

SAME = "the same question"


class Items:
    """The items of an evaluation, to hold training rows against.

    Args:
        rows: `messages` that end on the expected answer, or `prompt` (text or messages).
        run: words in a row that make a leak.
    """

    def __init__(self, rows: list[Row], run: int = 13) -> None:
        self._run = run
        self._questions: dict[bytes, list[int]] = {}
        words: dict[str, list[int]] = {}
        for number, row in enumerate(rows):
            self._questions.setdefault(_questions(row)[-1], []).append(number)
            for some in set(windows(row, run)):
                words.setdefault(some, []).append(number)
        most = max(_COMMON, len(rows) // 20)
        self._words = {some: numbers for some, numbers in words.items() if len(numbers) <= most}

    def within(self, row: Row) -> Iterator[tuple[int, str]]:
        """The number of every item that a training row holds, and how."""
        for question in _questions(row):
            for number in self._questions.get(question, ()) if question else ():
                yield number, SAME
        for words in windows(row, self._run) if self._words else ():
            for number in self._words.get(words, ()):
                yield number, f"the words {words!r}"


def _questions(row: Row) -> list[bytes]:
    """What is asked before each answer, oldest first, without system turns; the whole of a row that answers nothing."""
    said: list[bytes] = []
    found: list[bytes] = []
    for turn in _turns(row):
        if turn.get("role") == "assistant":
            found.append(b"\x1f".join(said))
        if turn.get("role") not in ("system", "developer"):
            said.append(normal(turn))
    return found if "messages" in row and found else [*found, b"\x1f".join(said)]


def _turns(row: Row) -> list[Message]:
    value: Any = row.get("messages") or row.get("prompt") or row.get("text") or row.get("chosen") or ""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value
