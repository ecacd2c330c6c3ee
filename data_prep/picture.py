"""What a picture file is, from its own bytes: format and size, or the reason why it does not open."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from data_prep.needs import installed
from data_prep.row import RowFault

MOST = 89_478_485
"""Pixels past which Pillow itself speaks of a decompression bomb."""
_ENDINGS = {"PNG": "png", "JPEG": "jpg", "GIF": "gif", "WEBP": "webp"}


class Look(NamedTuple):
    """Format by its usual ending, width and height in pixels."""

    ending: str
    width: int
    height: int


def look(data: bytes, name: str, *, decode: bool = True) -> Look:
    """Look at a picture.

    Args:
        decode: decode every pixel, where Pillow is installed; head and end are all that is read elsewhere.

    Raises:
        RowFault: no picture, damaged, or huge.
    """
    found = _head(data)
    if found is None:
        raise RowFault("picture_broken", f"{name} is no PNG, JPEG, GIF or WebP picture{_instead(data)}")
    if found.width * found.height > MOST:
        size = f"{found.width} x {found.height}"
        raise RowFault("picture_huge", f"{name} has {size} pixels, more than any processor takes")
    if not found.width or not found.height or not _whole(data, found.ending, decode=decode):
        raise RowFault("picture_broken", f"{name} does not open: it is cut off or damaged")
    return found


def _instead(data: bytes) -> str:
    if data.startswith(b"version https://git-lfs"):
        return ", but a Git-LFS pointer (git lfs pull)"
    return ", but an HTML page" if data[:64].lstrip().lower().startswith((b"<!doctype", b"<html")) else ""


def _head(data: bytes) -> Look | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return Look("png", _big(data[16:20]), _big(data[20:24]))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Look("gif", _little(data[6:8]), _little(data[8:10]))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _webp(data)
    return _jpeg(data) if data.startswith(b"\xff\xd8\xff") else None


def _jpeg(data: bytes) -> Look:
    """Sizes stand in the frame header, behind any number of other segments."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        mark, size = data[at + 1], _big(data[at + 2 : at + 4])
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return Look("jpg", _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7]))
        at += 1 if mark == 0xFF else 2 + size
    return Look("jpg", 0, 0)


def _webp(data: bytes) -> Look:
    sort = data[12:16]
    if sort == b"VP8X":
        return Look("webp", 1 + _little(data[24:27]), 1 + _little(data[27:30]))
    if sort == b"VP8L":
        bits = _little(data[21:25])
        return Look("webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    return Look("webp", _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF)


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _whole(data: bytes, ending: str, *, decode: bool) -> bool:
    pillow: Any = installed("PIL.Image") if decode else None
    if pillow is None:
        marks = {"png": b"IEND", "jpg": b"\xff\xd9", "gif": b"\x3b"}
        return ending not in marks or marks[ending] in data[-4096:]
    try:
        with pillow.open(io.BytesIO(data)) as picture:
            picture.load()
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError):
        return False
    return True
