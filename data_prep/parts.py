"""Content of a turn: text, or pictures and text in the order in which they are seen.

Pictures come inline, as `{"type": "image", "path": ...}`: a list beside the conversation does not say where each one
belongs, and at least one engine takes only its first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from data_prep import tools
from data_prep.row import Marks, Message, RowFault, kind, text_of

_PLACEHOLDER = re.compile(r"\n?(?:<image>|<IMG_CONTEXT>|<\|image\|>|<image_pad>)\n?")
_OTHER_MEDIA = re.compile(r"<video>|<audio>|<VIDEO_CONTEXT>")
_PICTURES = {"image", "image_url", "input_image"}
_MEDIA = {"video", "video_url", "audio", "audio_url", "input_audio"}
Take = Callable[[Any], str]
"""Finds a picture by what a row says of it, and gives the path to write."""


@dataclass
class Media:
    """Pictures of one row.

    Attributes:
        take: finds and keeps a picture.
        marks: what is changed in the row.
        listed: the pictures of a list beside the conversation, to be placed where the text says.
        expected: the row has such a list, even if it is empty.
    """

    take: Take
    marks: Marks = field(default_factory=list)
    listed: list[Any] = field(default_factory=list)
    expected: bool = False
    placed: int = 0

    def next(self) -> str:
        """The next listed picture.

        Raises:
            RowFault: there are fewer pictures than places for them.
        """
        if self.placed >= len(self.listed):
            raise RowFault("placeholders", f"more places for pictures than the {len(self.listed)} pictures listed")
        self.placed += 1
        return self.take(self.listed[self.placed - 1])


@dataclass
class Content:
    """What a turn holds, apart by kind."""

    parts: list[Message] = field(default_factory=list)
    reasoning: str = ""
    calls: list[Message] = field(default_factory=list)

    def value(self) -> str | list[Message]:
        """Text where there is only text."""
        if any(part["type"] != "text" for part in self.parts):
            return self.parts
        return "".join(part["text"] for part in self.parts)


def of_text(text: str, media: Media | None) -> str | list[Message]:
    """Text with the listed pictures in the places it names."""
    if media is None or "<" not in text:
        return text
    if media.expected and _PLACEHOLDER.search(text):
        return list(_pieces(text, media.next))
    return text


def of_parts(given: list[Any], name: str, media: Media) -> Content:
    """Typed parts in order.

    Raises:
        RowFault: a part of unknown kind, video or sound, or places for pictures that don't fit the pictures.
    """
    content, waiting = Content(), _waiting(given)
    for number, part in enumerate(given):
        _add(content, part, f"{name}[{number}]", media, waiting)
    if waiting:
        raise RowFault("placeholders", f"{name} has {len(waiting)} more pictures than places for them")
    return content


def _waiting(given: list[Any]) -> list[Any]:
    """Pictures that stand first while the text names their places: they wait until the text is there."""
    texts = " ".join(str(_said(part)) for part in given if isinstance(part, dict) and _type(part) == "text")
    if not _PLACEHOLDER.search(texts):
        return []
    return [part for part in given if isinstance(part, dict) and _type(part) in _PICTURES]


def _add(content: Content, part: Any, name: str, media: Media, waiting: list[Any]) -> None:
    if isinstance(part, str):
        part = {"type": "text", "text": part}
    if not isinstance(part, dict):
        raise RowFault("bad_part", f"{name} is {kind(part)}, not a typed part")
    sort = _type(part)
    if sort == "text":
        _add_text(content, text_of(_said(part), name, media.marks), media, waiting)
    elif sort in _PICTURES:
        if part not in waiting:
            content.parts.append({"type": "image", "path": _picture(part, media)})
    elif sort in ("reasoning", "thinking"):
        content.reasoning += text_of(_said(part), name, media.marks)
    elif sort == "tool_call":
        content.calls += tools.calls(_said(part), name)
    elif sort in _MEDIA:
        raise RowFault("media", f"{name} is {sort.partition('_')[0]}, which no engine here trains on")
    else:
        raise RowFault("bad_part", f"{name} is of an unknown type, {sort!r}")


def _add_text(content: Content, text: str, media: Media, waiting: list[Any]) -> None:
    if not waiting and not (media.expected and _PLACEHOLDER.search(text)):
        content.parts.append({"type": "text", "text": text})
        return

    def following() -> str:
        if not waiting:
            raise RowFault("placeholders", "more places for pictures than pictures")
        return _picture(waiting.pop(0), media)

    content.parts += _pieces(text, following if waiting else media.next)


def _pieces(text: str, following: Callable[[], str]) -> Iterator[Message]:
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        if text[at : found.start()]:
            yield {"type": "text", "text": text[at : found.start()]}
        yield {"type": "image", "path": following()}
        at = found.end()
    if text[at:]:
        yield {"type": "text", "text": text[at:]}


def _type(part: Message) -> str:
    named = part.get("type")
    if isinstance(named, str):
        return {"input_text": "text", "output_text": "text"}.get(named, named)
    return "text" if "text" in part else "?"


def _said(part: Message) -> Any:
    return next((part[key] for key in ("text", "value", "content", "thinking", "reasoning") if key in part), None)


def _picture(part: Message, media: Media) -> str:
    """A part's own picture, or the next of the list for a bare one."""
    for key in ("path", "image", "url", "value", "image_url", "base64"):
        if part.get(key) is not None:
            named = part[key]
            return media.take(named.get("url", named) if isinstance(named, dict) else named)
    return media.next()


def refuse_other_media(text: str) -> None:
    """Refuse text that names a place for a video or a sound.

    Raises:
        RowFault: it does.
    """
    if found := _OTHER_MEDIA.search(text):
        raise RowFault("media", f"{found[0]}: video or sound, which no engine here trains on")
