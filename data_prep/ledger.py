"""Every row that was dropped or changed: where, and why. One JSON object a line, beside the data."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from types import TracebackType

from data_prep.jsontext import dump_plain
from data_prep.manifest import SplitFile

FILE = "ledger.jsonl"
_SHOWN = 5


class Ledger:
    """Written as rows come.

    Attributes:
        dropped: rows by reason.
        changed: changes by reason.
        first: the first dropped rows: file and line, and the reason.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, path.open("wb")
        self._hash = hashlib.sha256()
        self.dropped: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.first: list[tuple[str, str]] = []
        self.lines = 0

    def add(self, name: str, line: int, entry: tuple[str, str, str], path: str = "") -> None:
        """One row.

        Args:
            name: of its file.
            entry: `dropped` or `changed`, kind of reason, the reason in words.
            path: of its file, for people.
        """
        (action, reason, what), place = entry, f"{name}:{line}"
        (self.dropped if action == "dropped" else self.changed)[reason] += 1
        if action == "dropped" and len(self.first) < _SHOWN:
            self.first.append((f"{path or name}:{line}", what))
        text = dump_plain({"where": place, "action": action, "reason": reason, "what": what}) + b"\n"
        self._file.write(text)
        self._hash.update(text)
        self.lines += 1

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def done(self) -> SplitFile:
        """The finished file."""
        self._file.flush()
        size = self._path.stat().st_size
        return SplitFile(file=FILE, rows=self.lines, size=size, sha256=self._hash.hexdigest())
