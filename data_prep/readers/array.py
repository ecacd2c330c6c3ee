"""A JSON array, element by element, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator

from data_prep.batch import LONGEST, Batch, Elements
from data_prep.faults import DataFault
from data_prep.opening import BLOCK, Opened
from data_prep.readers.text import pieces

_SCAN = json.JSONDecoder()
_SPACE = " \t\r\n"
_NEAR = 12
"""A fault this close to the end of what was read may be a value that goes on."""


class Cursor:
    """A place in a text that is read as it is needed."""

    def __init__(self, opened: Opened) -> None:
        self._opened, self._pieces = opened, pieces(opened)
        self._text, self._at, self.line = "", 0, 1

    def peek(self) -> str:
        """The next letter that is no space; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self.line += self._text[self._at] == "\n"
                self._at += 1
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def skip(self) -> None:
        """Go past the letter that was peeked."""
        self._at += 1

    def element(self) -> str:
        """The JSON value that begins here.

        Raises:
            DataFault: it is broken, or longer than a row may be.
        """
        while True:
            try:
                _, end = _SCAN.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._goes_on(error) or not self._more():
                    raise self._broken(error) from None
            except RecursionError:
                raise self.fault("not JSON that can be read: nested too deeply") from None
            except ValueError as error:
                raise self.fault(f"not JSON: {error}") from None
            else:
                found, self._at = self._text[self._at : end], end
                self.line += found.count("\n")
                return found

    def fault(self, what: str, line: int | None = None) -> DataFault:
        """A fault at this place."""
        why = "after a broken element nothing tells where the next one begins"
        return DataFault(what, where=f"{self._opened.path}:{line or self.line}", why=why, fix="mend the file there")

    def _goes_on(self, error: json.JSONDecodeError) -> bool:
        if len(self._text) - self._at > LONGEST:
            raise self.fault(f"an element of more than {LONGEST:,} bytes")
        return error.msg.startswith("Unterminated") or error.pos > len(self._text) - _NEAR

    def _broken(self, error: json.JSONDecodeError) -> DataFault:
        line = self.line + self._text.count("\n", self._at, error.pos)
        cut = " (the file ends here)" if error.pos >= len(self._text) or error.msg.startswith("Unterminated") else ""
        return self.fault(f"not JSON: {error.msg}{cut}", line)

    def _more(self) -> bool:
        wanted = max(BLOCK, len(self._text) - self._at)
        got = list[str]()
        while sum(map(len, got)) < wanted and (piece := next(self._pieces, "")):
            got.append(piece)
        self._text, self._at = self._text[self._at :] + "".join(got), 0
        return bool(got)


def batches(opened: Opened) -> Iterator[Batch]:
    """The elements, about a block a batch.

    Raises:
        DataFault: an element is broken, or something follows the array.
    """
    cursor = Cursor(opened)
    cursor.peek()
    cursor.skip()
    lines, texts, size = list[int](), list[bytes](), 0
    for line, text in _elements(cursor):
        lines.append(line)
        texts.append(text.encode("utf-8", "surrogatepass"))
        size += len(texts[-1])
        if size >= BLOCK:
            yield Elements(str(opened.path), lines, texts)
            lines, texts, size = [], [], 0
    if texts:
        yield Elements(str(opened.path), lines, texts)
    if cursor.peek():
        raise cursor.fault("something follows the end of the JSON array")


def _elements(cursor: Cursor) -> Iterator[tuple[int, str]]:
    """Line and text of every element, to the closing bracket."""
    if cursor.peek() == "]":
        return cursor.skip()
    while True:
        cursor.peek()
        line = cursor.line
        yield line, cursor.element()
        mark = cursor.peek()
        if mark not in (",", "]") or not mark:
            raise cursor.fault(
                "not JSON: an array goes on with `,` or ends with `]`" + ("" if mark else " (the file ends here)")
            )
        cursor.skip()
        if mark == "]":
            return None
