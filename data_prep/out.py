"""The files of the splits: written, counted and digested in one go."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO

from data_prep.index import Index
from data_prep.manifest import SplitFile
from data_prep.splits import SPLITS, Split


class Out:
    """Writes rows by split; with no folder it only counts and digests."""

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._open = folder, ExitStack()
        self._files: dict[Split, IO[bytes]] = {}
        self._hashes = {split: hashlib.sha256() for split in SPLITS}
        self._rows: Counter[Split] = Counter()
        self._sizes: Counter[Split] = Counter()

    def __enter__(self) -> Out:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def add(self, split: Split, texts: list[bytes]) -> None:
        """Rows of a split."""
        if not texts:
            return
        joined = b"".join(texts)
        if self._folder:
            if split not in self._files:
                self._files[split] = self._open.enter_context((self._folder / _name(split)).open("wb"))
            self._files[split].write(joined)
        self._hashes[split].update(joined)
        self._rows[split] += len(texts)
        self._sizes[split] += len(joined)

    def files(self) -> dict[Split, SplitFile]:
        """What was written."""
        return {split: self._described(split) for split in SPLITS if self._rows[split]}

    def _described(self, split: Split) -> SplitFile:
        sha256 = self._hashes[split].hexdigest()
        return SplitFile(file=_name(split), rows=self._rows[split], size=self._sizes[split], sha256=sha256)


def without(folder: Path, splits: dict[Split, SplitFile], index: Index, gone: set[int]) -> dict[Split, SplitFile]:
    """Write the files of the splits again without some rows."""
    olds = {split: (folder / each.file).rename(folder / f".{each.file}") for split, each in splits.items()}
    with ExitStack() as stack, Out(folder) as out:
        files = {split: stack.enter_context(path.open("rb")) for split, path in olds.items()}
        for number, row in enumerate(index):
            text = files[row.split].read(row.size)
            if number not in gone:
                out.add(row.split, [text])
        found = out.files()
    for path in olds.values():
        path.unlink()
    return found


def _name(split: Split) -> str:
    return f"{split}.jsonl"
