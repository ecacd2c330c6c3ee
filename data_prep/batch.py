"""Pieces of a file that can be worked on apart from each other: rows with the line each began on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from data_prep.jsontext import NotJson, parse, values

LONGEST = 64 * 2**20
"""Bytes of the longest row that is read."""


@dataclass(slots=True)
class Item:
    """One row as found.

    Attributes:
        line: where it began, counted from 1; the row's number where a format has no lines.
        value: the row, if it could be read.
        floats: whether a float occurs in it.
        fault: why it could not be read.
        note: something unusual that was set right, as code and words.
    """

    line: int
    value: Any = None
    floats: bool = False
    fault: NotJson | None = None
    note: tuple[str, str] | None = None


class Batch(Protocol):
    """Some rows of one file. Travels to another process."""

    @property
    def path(self) -> str: ...

    @property
    def size(self) -> int: ...

    def items(self) -> Iterator[Item]: ...


@dataclass(frozen=True)
class Lines:
    """Lines that hold one JSON value each. `first` is the number of the first; blank ones are no rows."""

    path: str
    first: int
    text: bytes

    @property
    def size(self) -> int:
        return len(self.text)

    def items(self) -> Iterator[Item]:
        for number, line in enumerate(self.text.split(b"\n"), start=self.first):
            if line and not line.isspace():
                yield from _row(number, line)


@dataclass(frozen=True)
class Elements:
    """Pieces of JSON with the lines they begin on."""

    path: str
    lines: list[int]
    texts: list[bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.texts))

    def items(self) -> Iterator[Item]:
        for number, text in zip(self.lines, self.texts, strict=True):
            yield from _row(number, text)


@dataclass(frozen=True)
class Values:
    """Rows that are read already, or can't be."""

    path: str
    rows: list[Item]

    @property
    def size(self) -> int:
        return len(self.rows)

    def items(self) -> Iterator[Item]:
        yield from self.rows


def too_long(line: int, size: int) -> Item:
    """A row that was not read, for its length."""
    return Item(line, fault=NotJson("too_long", f"a row of {size:,} bytes; the longest allowed has {LONGEST:,}"))


def _row(number: int, text: bytes) -> Iterator[Item]:
    if len(text) > LONGEST:
        yield too_long(number, len(text))
        return
    try:
        value, floats = parse(text)
        yield Item(number, value, floats)
    except NotJson as fault:
        yield from _several(number, text, fault)


def _several(number: int, text: bytes, fault: NotJson) -> Iterator[Item]:
    """Objects that follow each other on one line are rows; nothing else is."""
    try:
        found = list(values(text)) if "Extra data" in fault.what else []
    except NotJson:
        found = []
    if len(found) < 2 or not all(isinstance(value, dict) for value in found):
        yield Item(number, fault=fault)
        return
    note = ("joined", f"{len(found)} objects on one line, taken as {len(found)} rows")
    yield from (Item(number, value, floats=True, note=note) for value in found)
