"""What the first bytes of a file say: no data at all, a compression, an encoding."""

from __future__ import annotations

import codecs
from pathlib import Path

from data_prep.faults import DataFault

_HTML = "this is an HTML page, not data; the download went wrong"
_PICTURE = "this is a picture, not data"
_MEDIA = "this is sound or video, not data"
_WEIGHTS = "these are a model's weights, not data"
_ROWS = "name the file whose rows name it; rows with sound or video are refused all the same"
_PICKLE = "this is a Python pickle, which may run code when it is read"
_NO_DATA = {
    b"version https://git-lfs": ("this is a Git-LFS pointer, not the data", "git lfs pull"),
    b"<!doctype html": (_HTML, "download the file again"),
    b"<html": (_HTML, "download the file again"),
    b"<?xml": ("this is XML, not data", "download the file again"),
    b"pk\x03\x04": ("this is a zip archive", "unpack it and name the files"),
    b"%pdf": ("this is a PDF document, not data", "name a file of rows"),
    b"sqlite format 3": ("this is an SQLite database", "export its rows as CSV or JSON lines"),
    b"\x89png": (_PICTURE, "name the file whose rows name the pictures"),
    b"\xff\xd8\xff": (_PICTURE, "name the file whose rows name the pictures"),
    b"gif8": (_PICTURE, "name the file whose rows name the pictures"),
    b"id3": (_MEDIA, _ROWS),
    b"riff": (_MEDIA, _ROWS),
    b"\xff\xfb": (_MEDIA, _ROWS),
    b"oggs": (_MEDIA, _ROWS),
    b"gguf": (_WEIGHTS, "name a file of rows"),
    b"\x80\x02": (_PICKLE, "export its rows as JSON lines"),
    b"\x80\x03": (_PICKLE, "export its rows as JSON lines"),
    b"\x80\x04": (_PICKLE, "export its rows as JSON lines"),
}
_COMPRESSIONS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2"), (b"\xfd7zXZ\x00", "xz"))
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SHAPES = (
    ((True, False, False, False), "utf-32-le"),
    ((False, False, False, True), "utf-32-be"),
    ((True, False, True, False), "utf-16-le"),
    ((False, True, False, True), "utf-16-be"),
)
"""Which of the first four bytes are not zero, of a text that begins with ASCII."""


def refuse_no_data(path: Path, head: bytes) -> None:
    """Refuse what is plainly something else.

    Raises:
        DataFault: a pointer, a page, an archive, a document, a picture, a pickle.
    """
    start = head[:512].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    for mark, (what, fix) in _NO_DATA.items():
        if start.startswith(mark):
            raise DataFault(what, where=f"{path}:1", fix=fix)
    if head[4:8] == b"ftyp":  # MP4 and its relatives begin with the length of their first box
        raise DataFault(_MEDIA, where=f"{path}:1", fix=_ROWS)


def compression(head: bytes) -> str:
    """gzip, zstd, bzip2, xz or none."""
    return next((name for mark, name in _COMPRESSIONS if head.startswith(mark)), "none")


def encoding(head: bytes) -> str:
    """The encoding that a mark or the zeros between ASCII letters prove; utf-8 otherwise, to be checked row by row."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    shape = tuple(byte != 0 for byte in head[:4])
    return next((name for known, name in _SHAPES if known == shape), "utf-8")
