"""Blocks of UTF-8 as text, with the line of every fault."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from data_prep.faults import DataFault
from data_prep.opening import Opened


def pieces(opened: Opened) -> Iterator[str]:
    """The file as text, a block at a time.

    Raises:
        DataFault: bytes that are no UTF-8, with their line.
    """
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    while True:
        block = opened.block()
        try:
            text = decoder.decode(block, not block)
        except UnicodeDecodeError as error:
            raise not_utf8(opened, line + error.object[: error.start].count(b"\n"), error) from None
        line += text.count("\n")
        if text:
            yield text
        if not block:
            return


def not_utf8(opened: Opened, line: int, error: UnicodeDecodeError) -> DataFault:
    """What to say of bytes in an encoding that nothing names."""
    byte = error.object[error.start]
    return DataFault(
        f"not UTF-8: byte 0x{byte:02x}, and nothing in the file says what encoding it is in",
        where=f"{opened.path}:{line}",
        why="a guess would put wrong letters into the rows",
        fix="name the encoding, for instance --encoding cp1252 for text saved by Western European Windows programs",
    )
