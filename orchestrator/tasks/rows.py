"""Samples from JSON Lines: one sample a line, refused with file and line when something is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from orchestrator.errors import DataError
from orchestrator.tasks.sample import Sample


def read_rows(path: str | Path, *keys: str) -> list[Sample]:
    """The rows of a file as samples, called `NAME:LINE` after the file.

    Args:
        keys: what every row must have, each a text that isn't blank.

    Raises:
        DataError: no file, no rows, or a row that is no JSON object with these keys.
    """
    file = Path(path).expanduser()
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeError) as error:
        raise DataError(f"can't be read: {error}", where=str(file), fix="correct the task's option") from error
    samples = list(_samples(file, lines, keys))
    if not samples:
        raise DataError("no rows", where=str(file), fix="give one JSON object a line")
    return samples


def split(samples: Sequence[Sample], share: float = 0.1, key: str | None = None) -> tuple[list[Sample], list[Sample]]:
    """Training and validation samples, told apart by what they hold: equal rows never land on both sides.

    Args:
        share: about how much goes to validation.
        key: decide by this entry of the data alone, so that rows that share it stay together.
    """
    held_out = [sample for sample in samples if _place(sample, key) < share]
    kept = [sample for sample in samples if _place(sample, key) >= share]
    return kept, held_out


def _place(sample: Sample, key: str | None) -> float:
    """A number from 0 to 1 that only the content decides."""
    content = Sample("", {key: sample.data[key]}) if key else sample
    return int(content.digest[:12], 16) / 16**12


def _samples(file: Path, lines: list[str], keys: tuple[str, ...]) -> Iterator[Sample]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield Sample(f"{file.name}:{number}", _row(line, f"{file}:{number}", keys))


def _row(line: str, where: str, keys: tuple[str, ...]) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}", where=where, fix="each line must be one JSON object") from error
    if not isinstance(row, dict):
        raise DataError(f"a {type(row).__name__}, no object", where=where, fix="each line must be one JSON object")
    missing = [key for key in keys if not isinstance(row.get(key), str) or not row[key].strip()]
    if missing:
        message = (
            f"{', '.join(missing)} must be text that isn't blank; the row has {', '.join(sorted(row)) or 'nothing'}"
        )
        raise DataError(message, where=where, fix="rename or fill these keys")
    return row
