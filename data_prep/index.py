"""Kept rows: where each came from, and which are the same. On disk, so that memory does not grow with the rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from data_prep.splits import SPLITS, Split
from data_prep.work import RECORD

_AT_ONCE = 500_000
"""Digests held in memory at a time; more rows mean more passes over the index."""


class Kept(NamedTuple):
    """One row: digest, file and line it came from, bytes, tokens, split, whether it was changed, turns by role."""

    digest: bytes
    path: str
    line: int
    size: int
    tokens: int
    split: Split
    changed: bool
    turns: tuple[int, ...]


class Index:
    """The rows of a set in the order in which they were kept.

    Attributes:
        count: rows.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._file, self.count = path, path.open("wb"), 0
        self._runs: list[tuple[int, str]] = []

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._path.unlink()

    def add(self, path: str, records: list[bytes]) -> None:
        """Rows of one file."""
        if records:
            self._file.write(b"".join(records))
            self.count += len(records)
            self._runs.append((len(records), path))

    def __iter__(self) -> Iterator[Kept]:
        self._file.flush()
        with self._path.open("rb") as file:
            for count, path in self._runs:
                for record in RECORD.iter_unpack(file.read(count * RECORD.size)):
                    digest, line, size, tokens, split, changed, *turns = record
                    yield Kept(digest, path, line, size, tokens, SPLITS[split], bool(changed), tuple(turns))

    def repeated(self) -> Iterator[tuple[int, Kept, Kept]]:
        """Every row that stands somewhere before already: its number, itself, the first."""
        passes = 1 + self.count // _AT_ONCE
        for turn in range(passes):
            twice = self._twice(turn, passes)
            first: dict[bytes, Kept] = {}
            for number, row in enumerate(self if twice else ()):
                if row.digest in twice:
                    before = first.setdefault(row.digest, row)
                    if before is not row:
                        yield number, row, before

    def _twice(self, turn: int, passes: int) -> set[bytes]:
        """Digests that occur more than once, of the share of all digests that is this turn's."""
        seen, twice = set[bytes](), set[bytes]()
        for piece in self._pieces():
            for at in range(0, len(piece), RECORD.size):
                digest = piece[at : at + 16]
                if passes > 1 and int.from_bytes(digest[:4], "big") % passes != turn:
                    continue
                if digest in seen:
                    twice.add(digest)
                seen.add(digest)
        return twice

    def counted(self) -> Iterator[tuple[int, int, bool, tuple[int, ...]]]:
        """Number of the split, tokens, whether changed, and turns of every row: what is summed over all of them."""
        for piece in self._pieces():
            for record in RECORD.iter_unpack(piece):
                yield record[4], record[3], record[5], record[6:]

    def _pieces(self) -> Iterator[bytes]:
        self._file.flush()
        with self._path.open("rb") as file:
            while piece := file.read(10_000 * RECORD.size):
                yield piece
