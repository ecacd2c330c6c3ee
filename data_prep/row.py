"""What is said of a single row while it is turned into canonical form."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
Message = dict[str, Any]
Marks = list[tuple[str, str]]
"""What was changed in a row that is kept: code and words."""


class RowFault(Exception):
    """A row that can't be used.

    Args:
        code: kind of fault, for counting.
        what: the fault in words.
    """

    def __init__(self, code: str, what: str) -> None:
        super().__init__(what)
        self.code, self.what = code, what


def kind(value: Any) -> str:
    """A value's JSON type in words."""
    names = {
        type(None): "null",
        bool: "a boolean",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), "text" if isinstance(value, str) else type(value).__name__)


def text_of(value: Any, name: str, marks: Marks) -> str:
    """Text; a number is written out, which is a change.

    Raises:
        RowFault: anything else.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        marks.append(("number", f"{name} was the number {value}, and is text now"))
        return str(value)
    raise RowFault("not_text", f"{name} is {kind(value)}, not text")
