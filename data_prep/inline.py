"""Pictures of canonical rows: where they stand, and what is wrong with the files that they name.

Standard library only, so that a plan can look at rows without the extra `data`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from data_prep.picture import look
from data_prep.row import Message, Row, RowFault, kind

_TALK = ("messages", "prompt", "completion", "chosen", "rejected")
_LISTS = ("images", "image")
_KEYS = ("image", "url", "path", "base64")
"""Keys by which a part of type `image` names its picture; processors load one for each that is there."""
LARGEST = 256 * 2**20
"""Bytes of the largest picture that is read."""
_HEAD, _END = 2**17, 2**12
"""Bytes at both ends of a file that nearly always tell whether it is a whole picture."""
_NAME = 64
"""Letters up to which text that is no base64 address is taken for a path."""


def turns(row: Row) -> Iterator[Message]:
    """Every turn of a row that has the form of one, whatever else the row holds."""
    for column in _TALK:
        found = row.get(column)
        yield from (turn for turn in (found if isinstance(found, list) else []) if isinstance(turn, dict))


def parts(row: Row) -> Iterator[Message]:
    """The typed parts of all turns, in order."""
    return (part for turn in turns(row) for part in _parts(turn))


def pictures(row: Row) -> list[Message]:
    """The parts that are pictures, in the order in which they are seen."""
    return [part for part in parts(row) if part.get("type") in ("image", "image_url")]


def names(part: Message) -> list[Any]:
    """What a part says of its picture: none for a mere place, several where it says it twice."""
    if part.get("type") != "image_url":
        return [part[key] for key in _KEYS if part.get(key) is not None]
    given = part.get("image_url")
    return [given.get("url") if isinstance(given, dict) else given]


def listed(row: Row) -> list[Any] | None:
    """The pictures in a column beside the conversation; None where the row has no such column."""
    given: Any = next((row[name] for name in _LISTS if row.get(name) is not None), None)
    return given if isinstance(given, list) or given is None else [given]


def unplaced(row: Row) -> int:
    """How many more pictures a list beside the conversation holds than stand in it."""
    return max(0, len(listed(row) or []) - len(pictures(row)))


def is_late(turn: Message) -> bool:
    """Whether a turn ends on a picture that text stands before: the question is read before what it is about."""
    kinds = [part.get("type") for part in _parts(turn)]
    return "text" in kinds and kinds[-1] in ("image", "image_url")


def is_remote(named: Any) -> bool:
    """Whether a picture lies on a server."""
    return isinstance(named, str) and named.startswith(("http://", "https://"))


def is_file(named: Any) -> bool:
    """Whether a picture is named by a path; base64 is long, and has no point."""
    given = isinstance(named, str) and not is_remote(named) and not named.startswith("data:")
    return given and (len(named) <= _NAME or "." in named[-8:])


def fault(named: Any, folder: Path) -> RowFault | None:
    """What is wrong with a picture: missing, no picture, cut off, or huge. Its pixels are not decoded.

    Args:
        named: a path, or the picture itself in base64, with or without `data:image/...;base64,`.
        folder: that of the rows, which relative paths begin at.
    """
    try:
        if is_file(named):
            _look_at(folder / named, named)
        else:
            look(_decoded(named), "a picture in the row", decode=False)
    except (RowFault, OSError) as found:
        return found if isinstance(found, RowFault) else RowFault("picture_missing", f"{named}: {found.strerror}")
    return None


def _look_at(path: Path, named: str) -> None:
    """Its ends first: the whole only where they don't tell enough."""
    if not named or "\0" in named or not path.is_file():
        raise RowFault("picture_missing", f"there is no picture {named!r:.200}, seen from {path.parent}")
    size = path.stat().st_size
    if size > LARGEST:
        raise RowFault("picture_huge", f"{named} has more than {LARGEST:,} bytes")
    with path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, size - _END))
        try:
            look(head + file.read() if size > _HEAD else head, named, decode=False)
        except RowFault:
            file.seek(0)
            look(file.read(), named, decode=False)


def _decoded(named: Any) -> bytes:
    if not isinstance(named, str):
        raise RowFault("picture_missing", f"a picture is named by text, not by {kind(named)}")
    try:
        return base64.b64decode("".join(named.removeprefix("data:").rpartition(",")[2].split()), validate=True)
    except (binascii.Error, ValueError):
        raise RowFault("picture_broken", f"{named:.40}... is neither a path nor a picture in base64") from None


def _parts(turn: Message) -> list[dict[str, Any]]:
    content = turn.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
