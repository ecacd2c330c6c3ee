"""Pictures of canonical rows: where they stand, and what is wrong with the files that they name.

Standard library only, so that a plan can look at rows without the extra `data`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from data_prep.picture import look
from data_prep.row import Message, Row, RowFault

_TALK = ("messages", "prompt", "completion", "chosen", "rejected")
_LISTS = ("images", "image")
LARGEST = 256 * 2**20
"""Bytes of the largest picture that is read."""


def turns(row: Row) -> Iterator[Message]:
    """Every turn of a row that has the form of one, whatever else the row holds."""
    for column in _TALK:
        found = row.get(column)
        yield from (turn for turn in (found if isinstance(found, list) else []) if isinstance(turn, dict))


def pictures(row: Row) -> list[Message]:
    """The parts that are pictures, in the order in which they are seen."""
    return [part for turn in turns(row) for part in _parts(turn) if part.get("type") == "image"]


def unplaced(row: Row) -> int:
    """How many more pictures a list beside the conversation holds than stand in it."""
    listed: Any = next((row[name] for name in _LISTS if row.get(name)), [])
    return max(0, (len(listed) if isinstance(listed, list) else 1) - len(pictures(row)))


def is_late(turn: Message) -> bool:
    """Whether a turn ends on a picture that text stands before: the question is read before what it is about."""
    kinds = [part.get("type") for part in _parts(turn)]
    return "text" in kinds and kinds[-1:] == ["image"]


def fault(part: Message, folder: Path) -> RowFault | None:
    """What is wrong with the file of a part: missing, no picture, cut off, or huge. Its pixels are not decoded.

    Args:
        folder: that of the rows, which relative paths begin at.
    """
    named = part.get("path")
    path = folder / named if isinstance(named, str) and named and "\0" not in named else None
    if path is None or not path.is_file():
        return RowFault("picture_missing", f"there is no picture {named!r:.200}, seen from {folder}")
    if path.stat().st_size > LARGEST:
        return RowFault("picture_huge", f"{named} has more than {LARGEST:,} bytes")
    try:
        look(path.read_bytes(), str(named), decode=False)
    except (RowFault, OSError) as found:
        return found if isinstance(found, RowFault) else RowFault("picture_missing", f"{named}: {found.strerror}")
    return None


def _parts(turn: Message) -> list[dict[str, Any]]:
    content = turn.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
