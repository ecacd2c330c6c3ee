"""Reads a whole data file once: every row checked against what it is used for, counted, digested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from data_prep import forms
from data_prep.faults import DataFault
from data_prep.forms import Use
from data_prep.rows import Jsonl, Row
from data_prep.traits import Trait, Traits

_SHOWN = 5
"""Faulty rows named before reading stops."""
_TICK, _PICTURED = 20_000, 5_000
"""Rows between ticks: fewer where each names files that are looked at."""


@dataclass(frozen=True)
class DataFacts:
    """What a good file is: rows, form by its columns, sha256 of its bytes, and what not every engine takes in it."""

    path: Path
    rows: int
    form: str
    digest: str
    traits: dict[str, Trait] = field(default_factory=dict)


def check(path: Path, use: Use, tick: Callable[[int], None] = lambda _: None) -> DataFacts:
    """Check a file.

    Args:
        path: JSON lines.
        use: what the rows are for.
        tick: called with the number of rows read, now and then.

    Raises:
        DataFault: the file or some rows can't be used; the first rows at fault are named with file:line.
    """
    reader, traits, form, wrong = Jsonl(path), Traits(path.parent), "", list[str]()
    for number, row in reader:
        form = form or _form(path, number, row, use)
        complaint = _complaint(row, use, form) or traits.look(number, row)
        if complaint:
            wrong.append(f"{path}:{number}: {complaint}")
        if len(wrong) >= _SHOWN:
            break
        if reader.count % _TICK == 0 or (traits.found and reader.count % _PICTURED == 0):
            tick(reader.count)
    if wrong:
        raise _fault(wrong, use)
    return DataFacts(path, reader.count, form, reader.digest, traits.found)


def _form(path: Path, number: int, row: Row, use: Use) -> str:
    form = forms.form_of(row, use)
    if form is None:
        wanted = " or ".join(" + ".join(f"`{c}`" for c in name.split("+")) for name in forms.FORMS[use])
        have = ", ".join(f"`{column}`" for column in row) or "nothing"
        raise DataFault(
            f"{use} wants rows with {wanted}; this one has {have}",
            where=f"{path}:{number}",
            fix=f"post-train data prepare {path} --use {use} --output FOLDER, and name FOLDER instead",
        )
    return form


def _complaint(row: Row, use: Use, form: str) -> str | None:
    missing = [c for c in form.split("+") if c not in row]
    if missing:
        return f"the column `{missing[0]}` of the rows above is missing here"
    return forms.fault(row, use, form)


def _fault(wrong: list[str], use: Use) -> DataFault:
    where, _, what = wrong[0].partition(": ")
    why = f"{use} can't use such rows, and none is dropped silently"
    return DataFault(what, where=where, why=why, fix="mend or remove these rows", others=tuple(wrong[1:]))
