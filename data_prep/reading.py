"""All files of a set as one stream of batches; remembers what each file was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from data_prep import formats
from data_prep.batch import Batch
from data_prep.columns import Columns
from data_prep.faults import DataFault
from data_prep.formats import Format
from data_prep.inputs import Input
from data_prep.manifest import SourceFile
from data_prep.opening import Opened
from data_prep.readers.container import Container, batches, container
from data_prep.row import RowFault
from data_prep.work import as_row

_SAMPLE = 100
"""Rows looked at for the format."""


class Reading:
    """Reads files one after the other.

    Attributes:
        files: all of them, in order.
        sources: what the files read so far were.
        taken: bytes read so far.
        total: bytes of all files.
        first: the first file.
        given: files that are a split already.
        names: file, and how it is told of.
    """

    def __init__(self, files: list[Input], encoding: str | None) -> None:
        self.files, self._encoding = files, encoding
        self._kinds = [container(file.path, encoding) for file in files]
        self.sources: list[SourceFile] = []
        self.total = sum(file.path.stat().st_size for file in files)
        self.taken = 0
        self._begun: list[tuple[Input, Container]] = []
        self.first = str(files[0].path)
        self.given = tuple((str(file.path), file.split) for file in files if file.split)
        self.names = {str(file.path): file.name for file in files}

    def format(self, name: str | None, columns: Columns) -> Format:
        """The format that was named, or that of the first row that has a known one.

        Raises:
            DataFault: no row of a sample has; or none can be read.
        """
        if name:
            return formats.named(name)
        found = [self._recognised(place, value, columns) for place, value in islice(self._sample(), _SAMPLE)]
        known = next((each for each in found if isinstance(each, Format)), None)
        if not found:
            raise DataFault("the data holds no row", where=self.first, fix="one JSON object a line")
        if known is None:
            raise next(each for each in found if isinstance(each, DataFault))
        return known

    def batches(self) -> Iterator[Batch]:
        """Every batch of every file."""
        before = 0
        for file, kind in zip(self.files, self._kinds, strict=True):
            self._begun.append((file, kind))
            yield from batches(file.path, kind, self._encoding, self._done(file, kind), self._taken(before))
            before += file.path.stat().st_size
            self.taken = before

    def seen(self) -> list[SourceFile]:
        """What the files were; those that reading stopped within are read to their end for their digest."""
        for file, kind in self._begun[len(self.sources) :]:
            with Opened(file.path, self._encoding if kind not in ("parquet", "arrow") else "latin-1") as opened:
                self._done(file, kind)(opened)
        return self.sources

    def _done(self, file: Input, kind: str) -> Callable[[Opened], None]:
        def note(opened: Opened) -> None:
            text = kind not in ("parquet", "arrow")
            self.sources.append(
                SourceFile(
                    name=file.name,
                    sha256=opened.digest(),
                    size=opened.taken,
                    container=kind,
                    compression=opened.compression if text else "none",
                    encoding=opened.encoding if text else "binary",
                    split=file.split,
                )
            )

        return note

    def _taken(self, before: int) -> Callable[[int], None]:
        def note(taken: int) -> None:
            self.taken = before + taken

        return note

    def _sample(self) -> Iterator[tuple[str, Any]]:
        for file, kind in zip(self.files, self._kinds, strict=True):
            for batch in batches(file.path, kind, self._encoding, lambda _: None):
                for item in batch.items():
                    yield f"{file.path}:{item.line}", item.fault or item.value

    def _recognised(self, place: str, value: Any, columns: Columns) -> Format | DataFault:
        if isinstance(value, Exception):
            fix = "mend or remove the row"
            return DataFault(str(value), where=place, why="no row before it tells what format the rows have", fix=fix)
        try:
            row = columns.named(as_row(value), [])
        except RowFault as fault:
            return DataFault(fault.what, where=place, fix="one JSON object a line")
        return formats.recognise(row) or formats.unknown(row, place)
