"""JSON Lines in, rows out: read, counted, and refused with file and line when they have another form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.harness import WorkError

Row = dict[str, Any]

SFT_FORMS = (("messages",), ("prompt", "completion"), ("text",))
FORMS = {"SFTTrainer": SFT_FORMS, "DPOTrainer": (("chosen", "rejected"),), "GRPOTrainer": (("prompt",),)}


def read_rows(path: str, trainer: str, limit: int | None = None) -> list[Row]:
    """The rows of a file, all in the form that the trainer takes.

    Raises:
        WorkError: no file, no rows, a line that is no JSON object, or a row of another form.
    """
    rows: list[Row] = []
    for number, line in _lines(Path(path)):
        if limit is not None and len(rows) == limit:
            break
        row = _parse(path, number, line)
        _check_form(path, number, row, trainer)
        rows.append(row)
    if not rows:
        raise WorkError("data.empty", f"{path}: no rows", fix="give a file with one JSON object a line")
    return rows


def form(row: Row) -> tuple[str, ...]:
    """Which of the SFT forms a row has."""
    return next(keys for keys in SFT_FORMS if all(key in row for key in keys))


def dataset(rows: list[Row], path: str) -> Any:
    """Rows as a dataset of the engine.

    Raises:
        WorkError: a column whose rows have different types.
    """
    import pyarrow as pa
    from datasets import Dataset

    try:
        return Dataset.from_list(rows)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
        raise WorkError(
            "data.types",
            f"{path}: the rows don't agree on the type of a column: {error}",
            fix="give every row the same keys with values of one type",
        ) from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except (OSError, UnicodeError) as error:
        raise WorkError("data.unreadable", f"{path}: {error}", fix="check data.train and data.eval") from error


def _parse(path: str, number: int, line: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        fix = "each line must be one complete JSON object"
        raise WorkError("data.json", f"{path}:{number}: not JSON ({error})", fix=fix) from error
    if not isinstance(row, dict):
        fix = "each line must be one JSON object"
        raise WorkError("data.json", f"{path}:{number}: a {type(row).__name__}, not an object", fix=fix)
    return row


def _check_form(path: str, number: int, row: Row, trainer: str) -> None:
    forms = FORMS[trainer]
    if not any(all(row.get(key) is not None for key in keys) for keys in forms):
        wanted = " or ".join("+".join(keys) for keys in forms)
        raise WorkError(
            "data.form",
            f"{path}:{number}: has {sorted(row)}, but this stage reads {wanted}",
            fix="rename the columns",
        )
    if "images" in row or "image" in row or _has_parts(row):
        raise WorkError(
            "data.images",
            f"{path}:{number}: images, audio or video",
            why="this backend trains on text; the picture would be dropped",
            fix="remove these rows, or leave only their text",
        )


def _has_parts(row: Row) -> bool:
    """Whether a message holds a part that is no text."""
    messages = [m for value in row.values() if isinstance(value, list) for m in value if isinstance(m, dict)]
    parts = [p for m in messages if isinstance(m.get("content"), list) for p in m["content"]]
    return any(isinstance(part, dict) and part.get("type", "text") != "text" for part in parts)
