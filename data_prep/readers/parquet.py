"""Parquet and Arrow -> batches; needs pyarrow. Each process reads its own part of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_prep.batch import Batch, Item
from data_prep.faults import DataFault
from data_prep.needs import needed

_ROWS = 32
"""Rows decoded at once: pictures may lie in them."""


@dataclass(frozen=True)
class RowGroup:
    """One row group of a Parquet file; `first` is the number of its first row."""

    path: str
    group: int
    first: int
    size: int

    def items(self) -> Iterator[Item]:
        file, first = _file(Path(self.path)), self.first
        try:
            for batch in file.iter_batches(_ROWS, row_groups=[self.group]):
                yield from _rows(batch, first)
                first += batch.num_rows
        except (OSError, ValueError) as error:
            raise _damaged(Path(self.path), error) from None
        finally:
            file.close()


@dataclass(frozen=True)
class Record:
    """One record batch of an Arrow stream, as bytes of a stream of its own."""

    path: str
    first: int
    stream: bytes

    @property
    def size(self) -> int:
        return len(self.stream)

    def items(self) -> Iterator[Item]:
        arrow = needed("pyarrow", f"{self.path} is an Arrow file")
        with arrow.ipc.open_stream(self.stream) as stream:
            yield from _rows(stream.read_next_batch(), self.first)


def parquet(path: Path, taken: Callable[[int], None]) -> Iterator[Batch]:
    """The row groups of a Parquet file.

    Raises:
        DataFault: damaged, or pyarrow is not installed.
    """
    file, first = _file(path), 1
    with file:
        sizes = [file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)]
    whole = path.stat().st_size
    for group, rows in enumerate(sizes):
        taken(whole * group // len(sizes))
        yield RowGroup(str(path), group, first, rows)
        first += rows


def arrow_stream(path: Path, taken: Callable[[int], None]) -> Iterator[Batch]:
    """The record batches of an Arrow file, as `save_to_disk` of datasets writes it.

    Raises:
        DataFault: damaged, or pyarrow is not installed.
    """
    arrow, first = needed("pyarrow", f"{path} is an Arrow file"), 1
    try:
        with arrow.memory_map(str(path)) as source, arrow.ipc.open_stream(source) as stream:
            for batch in stream:
                sink = arrow.BufferOutputStream()
                with arrow.ipc.new_stream(sink, batch.schema) as writer:
                    writer.write_batch(batch)
                taken(source.tell())
                yield Record(str(path), first, sink.getvalue().to_pybytes())
                first += batch.num_rows
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def _rows(batch: Any, first: int) -> Iterator[Item]:
    for number, row in enumerate(batch.to_pylist(), start=first):
        yield Item(number, _without_nothing(row), floats=True)


def _without_nothing(value: Any) -> Any:
    """Columns and keys that are null were absent: a table gives every row all keys of all rows."""
    if isinstance(value, dict):
        return {key: _without_nothing(item) for key, item in value.items() if item is not None}
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value


def _file(path: Path) -> Any:
    module = needed("pyarrow.parquet", f"{path.name} is a Parquet file")
    try:
        return module.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> DataFault:
    first = str(error).splitlines()[0]
    return DataFault(f"a damaged file: {first}", where=str(path), fix="download or copy the file again")
