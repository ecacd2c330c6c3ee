"""Rows of an evaluation that stand in the training data too: by their prompt, or by a run of words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from data_prep.faults import DataFault
from data_prep.row import Row, RowFault
from data_prep.splits import prompt

_WORD = re.compile(r"\w+")
_MOST = 20_000_000


class Leaks:
    """What must not be trained on. Holds hashes of 8 bytes, so that it stays small.

    Args:
        run: words in a row that make a leak; a shorter prompt leaks only as a whole.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self._places: list[str] = []
        self._prompts: dict[int, int] = {}
        self._runs: dict[int, int] = {}

    def add(self, row: Row, place: str) -> None:
        """A row of an evaluation.

        Raises:
            DataFault: there are too many to hold.
        """
        number = len(self._places)
        self._places.append(place)
        self._prompts.setdefault(_hash(prompt(row)), number)
        for words in windows(row, self._run):
            self._runs.setdefault(_hash(words.encode()), number)
        if len(self._runs) > _MOST:
            fix = "name a smaller file with --against"
            raise DataFault(f"more than {_MOST:,} runs of words to look for", where=place, fix=fix)

    def refuse(self, row: Row) -> None:
        """Refuse a row that an evaluation holds.

        Raises:
            RowFault: it does; says which row of the evaluation, and the words.
        """
        found = self._prompts.get(_hash(prompt(row)))
        if found is not None:
            raise RowFault("leak_exact", f"its prompt is that of {self._places[found]}")
        for words in windows(row, self._run):
            found = self._runs.get(_hash(words.encode()))
            if found is not None:
                what = f"shares {self._run} words with {self._places[found]}: {words!r}"
                raise RowFault("leak_words", what)


def windows(row: Row, run: int) -> Iterator[str]:
    """Every `run` words in a row that people and the assistant said."""
    if _pictured(row):  # the same words about another picture are another question
        return
    words = _WORD.findall(" ".join(_texts(row)).casefold())
    for start in range(len(words) - run + 1):
        yield " ".join(words[start : start + run])


def _pictured(row: Row) -> bool:
    turns = row.get("messages") or row.get("prompt") or []
    return any(isinstance(turn, dict) and isinstance(turn.get("content"), list) for turn in turns)


def _texts(value: Any) -> Iterator[str]:
    """What people and the assistant said; a system prompt is shared by many rows and tells nothing."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            if not (isinstance(item, dict) and item.get("role") in ("system", "developer")):
                yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("tools", "role", "type", "path", "id"):
                yield from _texts(item if key != "arguments" else json.dumps(item, ensure_ascii=False))


def _hash(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
