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
            first: dict[bytes, Kept] = {}
            for number, row in enumerate(self):
                if passes > 1 and int.from_bytes(row.digest[:4]) % passes != turn:
                    continue
                before = first.setdefault(row.digest, row)
                if before is not row:
                    yield number, row, before
