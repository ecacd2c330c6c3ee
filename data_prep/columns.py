"""Columns under other names, and columns that are kept beside the canonical ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from data_prep.faults import DataFault
from data_prep.readers.table import UNNAMED
from data_prep.row import Marks, Row

EVERYTHING = "*"


@dataclass(frozen=True)
class Columns:
    """What the caller says of the columns.

    Attributes:
        names: canonical name and the row's own, `a.b` for a key within a column.
        keep: columns that come along as they are.
    """

    names: tuple[tuple[str, str], ...] = ()
    keep: tuple[str, ...] = ()

    def named(self, row: Row, marks: Marks) -> Row:
        """A row under canonical names. Text in columns of a table that have no name is lost, which is a change."""
        lost = [key for key, value in row.items() if key.startswith(UNNAMED) and value and value.strip()]
        if lost and not {own for _, own in self.names} & set(lost):
            marks.append(("unnamed_column", f"text in columns without a name was left out: {', '.join(lost)}"))
        if not self.names:
            return row
        own = {name for _, name in self.names}
        found = {name: _within(row, place) for name, place in self.names}
        rest = {key: value for key, value in row.items() if key not in own and key not in found}
        return {**rest, **{name: value for name, value in found.items() if value is not None}}

    def kept(self, row: Row, canonical: Row) -> Row:
        """The columns to keep of a row, where it has them and they are not canonical ones."""
        names = row if EVERYTHING in self.keep else self.keep
        return {name: row[name] for name in names if name in row and name not in canonical}


def _within(row: Row, place: str) -> Any:
    if place in row:
        return row[place]
    value: Any = row
    for key in place.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def parse(text: str | None) -> tuple[tuple[str, str], ...]:
    """`prompt=v2,completion=v1` as pairs.

    Raises:
        DataFault: a piece without `=`.
    """
    pairs = [piece.partition("=") for piece in (text or "").split(",") if piece.strip()]
    for name, mark, own in pairs:
        if not mark or not name.strip() or not own.strip():
            fix = "for instance --columns prompt=question_text,completion=reply"
            raise DataFault(f"{name + mark + own!r} is no pair NAME=COLUMN", where="--columns", fix=fix)
    return tuple((name.strip(), own.strip()) for name, _, own in pairs)
