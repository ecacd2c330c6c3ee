"""CSV and TSV -> batches: cells are text, the first line names the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from data_prep.batch import LONGEST, Batch, Item, Values
from data_prep.faults import DataFault
from data_prep.jsontext import NotJson
from data_prep.opening import Opened
from data_prep.readers.text import pieces

_ROWS = 2000
UNNAMED = "unnamed_"


def batches(opened: Opened) -> Iterator[Batch]:
    """Rows by column name. A row with more or fewer cells than the header is a fault of that row.

    Raises:
        DataFault: no header, a column named twice, or quotes that don't match.
    """
    csv.field_size_limit(LONGEST)
    reader, path, rows = csv.reader(_lines(opened), _dialect(opened), strict=True), str(opened.path), list[Item]()
    header = _header(next(_checked(reader, path), (1, []))[1], path)
    for line, cells in _checked(reader, path):
        if cells:
            rows.append(_item(line, header, cells))
        if len(rows) >= _ROWS:
            yield Values(path, rows)
            rows = []
    if rows:
        yield Values(path, rows)


def _dialect(opened: Opened) -> type[csv.Dialect]:
    """Comma, tab, semicolon or bar: whichever the header has most of."""
    head = opened.peek().partition(b"\n")[0].decode("utf-8", "replace")

    class Found(csv.excel):
        delimiter = max(",\t;|", key=head.count)

    return Found


def _lines(opened: Opened) -> Iterator[str]:
    rest = ""
    for piece in pieces(opened):
        *whole, rest = (rest + piece).split("\n")
        yield from (line + "\n" for line in whole)
        if len(rest) > LONGEST:
            raise DataFault(f"a line of more than {LONGEST:,} letters", where=str(opened.path))
    if rest:
        yield rest


def _checked(reader: Iterator[list[str]], path: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line each begins on."""
    while True:
        line = int(getattr(reader, "line_num", 0)) + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            why = "after such a place nothing tells where the next cell begins"
            fix = 'close the quotes, and write a quote inside a quoted cell as ""'
            raise DataFault(f"not CSV: {error}", where=f"{path}:{line}", why=why, fix=fix) from None


def _header(names: list[str], path: str) -> list[str]:
    header = [name.strip() or f"{UNNAMED}{number}" for number, name in enumerate(names, start=1)]
    if not any(name.strip() for name in names):
        raise DataFault("the table has no header", where=f"{path}:1", fix="name the columns in the first line")
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice:
        raise DataFault(f"two columns are called {twice!r}", where=f"{path}:1", fix="give each a name of its own")
    return header


def _item(line: int, header: list[str], cells: list[str]) -> Item:
    if len(cells) != len(header):
        return Item(line, fault=NotJson("cells", f"{len(cells)} cells, but the header names {len(header)} columns"))
    return Item(line, dict(zip(header, cells, strict=True)))
