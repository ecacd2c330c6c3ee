"""The nearest valid name, for messages about an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALL, _SOME = 16, 5
"""Valid names that are all told; how many of more are."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """`; did you mean 'x'?` or, when nothing is near, the valid names: all of a few, those most alike of many."""
    options = sorted(valid)
    close = near(name, options)
    if close:
        return f"; did you mean {close!r}?"
    if len(options) <= _ALL:
        return f"; valid: {', '.join(options)}" if options else ""
    alike = difflib.get_close_matches(name, options, n=_SOME, cutoff=0.0)
    return f"; there are {len(options)}, most alike: {', '.join(alike)}"


def near(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that is most likely meant, or None where none is near."""
    return next(iter(difflib.get_close_matches(name, sorted(valid), n=1, cutoff=0.6)), None)
