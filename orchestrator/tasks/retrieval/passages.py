"""The passages that are searched: JSON Lines with `id`, and `contents` or `title` and `text`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import DataError
from orchestrator.tasks.rows import read_rows


@dataclass(frozen=True)
class Passage:
    """One passage; its first line is the title, as Search-R1's corpus has it."""

    id: str
    contents: str


def read_passages(path: str | Path) -> list[Passage]:
    """Every passage of a file.

    Raises:
        DataError: a row that holds no text.
    """
    return [
        Passage(str(row.data.get("id", row.id)), _contents(row.data, f"{path}:{row.id.rpartition(':')[2]}"))
        for row in read_rows(path)
    ]


def _contents(row: object, where: str) -> str:
    assert isinstance(row, dict)
    title, text = row.get("title"), row.get("contents") or row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise DataError("no `contents` or `text`", where=where, fix="give every passage its text")
    return f'"{title}"\n{text}' if title and not row.get("contents") else text
