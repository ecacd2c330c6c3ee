"""Bytes in any known encoding -> UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path

from data_prep.faults import DataFault

Step = Callable[[bytes, bool], bytes]
"""The next bytes, and whether they are the last -> the same in UTF-8."""


def to_utf8(encoding: str, path: Path) -> Step:
    """A step that turns a file's bytes into UTF-8. UTF-8 itself passes untouched: its faults belong to single rows.

    Raises (here and from the step):
        DataFault: an unknown encoding, or bytes that don't exist in it, with their line.
    """
    if encoding in ("utf-8", "utf8", "utf-8-sig"):
        return _without_mark()
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        fix = "for instance cp1252, latin-1, gb18030, shift_jis"
        raise DataFault(f"no encoding is called {encoding!r}", where="--encoding", fix=fix) from None
    line = 1

    def step(raw: bytes, final: bool) -> bytes:
        nonlocal line
        try:
            encoded = decoder.decode(raw, final).encode("utf-8")
        except UnicodeError as error:
            before = error.object[: error.start] if isinstance(error, UnicodeDecodeError) else b""
            line += bytes(before).replace(b"\0", b"").count(b"\n")
            where, fix = f"{path}:{line}", "name the encoding that the file is in with --encoding"
            raise DataFault(f"not {encoding}: {getattr(error, 'reason', error)}", where=where, fix=fix) from None
        line += encoded.count(b"\n")
        return encoded

    return step


def _without_mark() -> Step:
    begun = False

    def step(raw: bytes, _final: bool) -> bytes:
        nonlocal begun
        text, begun = (raw if begun else raw.removeprefix(codecs.BOM_UTF8)), begun or bool(raw)
        return text

    return step
