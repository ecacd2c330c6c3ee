"""Where in a user's file something is written, for messages."""

from __future__ import annotations

import traceback
from typing import Any


def place_of(thing: Any) -> str | None:
    """`file:line` of a function or class; None for what has no source of its own."""
    code = getattr(thing, "__code__", None) or getattr(getattr(thing, "__init__", None), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else None


def raised_at(error: BaseException, own: str | None = None) -> str | None:
    """`file:line` where an error was raised: the deepest frame in the file `own`, else the deepest of all."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "importlib" not in f.filename]
    chosen = [f for f in frames if f.filename == own] or frames
    return f"{chosen[-1].filename}:{chosen[-1].lineno}" if chosen else None
