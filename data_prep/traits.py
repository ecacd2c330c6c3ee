"""What rows hold that not every engine takes: pictures, above all, and how a row says where they belong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from data_prep import inline
from data_prep.row import Message, Row

_TEXTS = ("text", "thinking", "reasoning")
_PICTURES = ("image", "image_url")
_MEDIA = ("audio", "video")
_TURNS = ("prompt", "completion", "chosen", "rejected")


class Trait(NamedTuple):
    """The first line of a file that has a trait, and what stands there."""

    line: int
    words: str


@dataclass
class Traits:
    """Looks at the rows of a file, one by one.

    Attributes:
        folder: where relative paths of pictures begin.
        found: name of a trait -> where it was seen first. `turns`: conversations in prompt, completion, chosen or
            rejected; `pictures`; `list`: a column of pictures beside the conversation; `late`: a picture after its
            text; `remote`: a picture on a server; `relative`: a picture by relative path; `media`: sound or video;
            `unknown`: a part of a type that nobody knows.
    """

    folder: Path
    found: dict[str, Trait] = field(default_factory=dict)
    _whole: set[str] = field(default_factory=set)

    def look(self, number: int, row: Row) -> str | None:
        """Note the traits of a row; what is wrong with it whatever the engine, or None."""
        if any(isinstance(row.get(column), list) for column in _TURNS):
            self.found.setdefault("turns", Trait(number, "conversations"))
        if inline.listed(row) is None and not any(True for _ in inline.parts(row)):
            return None
        for name, words in _traits(row):
            self.found.setdefault(name, Trait(number, words))
        return next((wrong for part in inline.parts(row) if (wrong := _misshapen(part))), None) or self._broken(row)

    def _broken(self, row: Row) -> str | None:
        """A place without a picture, or a picture that doesn't open; each file is looked at once."""
        pictures, beside = inline.pictures(row), inline.listed(row) or []
        places = sum(not inline.names(part) for part in pictures)
        if places > len(beside):
            return f"{places} places for pictures, and {len(beside)} pictures in a list beside the conversation"
        for named in [name for part in pictures for name in inline.names(part)] + [_listed(one) for one in beside]:
            if inline.is_remote(named) or (isinstance(named, str) and named in self._whole):
                continue
            if fault := inline.fault(named, self.folder):
                return str(fault)
            if inline.is_file(named):
                self._whole.add(named)
        return None


def _traits(row: Row) -> Iterator[tuple[str, str]]:
    beside, pictures = inline.listed(row), inline.pictures(row)
    if pictures or beside:
        yield "pictures", "pictures"
    if beside is not None:
        yield from _beside(row, beside, sum(not inline.names(part) for part in pictures))
    if any(inline.is_late(turn) for turn in inline.turns(row)):
        yield "late", "a picture after its text"
    named = [name for part in pictures for name in inline.names(part)]
    yield from (("remote", f"{name:.120}") for name in named if inline.is_remote(name))
    yield from (("relative", name) for name in named if inline.is_file(name) and not Path(name).is_absolute())
    for part in inline.parts(row):
        sort = str(part.get("type"))
        if sort not in (*_TEXTS, *_PICTURES):
            yield "media" if sort in _MEDIA else "unknown", sort


def _beside(row: Row, beside: list[Any], places: int) -> Iterator[tuple[str, str]]:
    """One picture beside one place for it is clear, when the column is a list."""
    column = "images" if row.get("images") is not None else "image"
    if (len(beside), places) != (1, 1) or not isinstance(row[column], list):
        yield "list", f"{len(beside)} pictures in the column `{column}`, {places} places for them in the conversation"


def _misshapen(part: Message) -> str | None:
    if part.get("type") == "text" and not isinstance(part.get("text"), str):
        return "a part of type text has no `text`"
    if part.get("type") in _PICTURES and len(inline.names(part)) > 1:
        return "a picture is named twice in one part; it would be loaded twice, into one place"
    return None


def _listed(given: Any) -> Any:
    """Pictures beside a conversation may be objects, as Parquet has them."""
    return given.get("path") if isinstance(given, dict) else given
