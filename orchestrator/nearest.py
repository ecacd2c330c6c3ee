"""The nearest valid name, for messages about an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, valid: Iterable[str]) -> str:
    """`; did you mean 'x'?` or, when nothing is near, the valid names."""
    options = sorted(valid)
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; valid: {', '.join(options)}" if options else ""
