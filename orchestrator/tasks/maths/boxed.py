"""The answer in a text: what stands in the last \\boxed{...}."""

from __future__ import annotations

_MARK = "\\boxed"


def last_boxed(text: str) -> str | None:
    """Content of the last complete box, braces balanced; None when there is none."""
    at = len(text)
    while (at := text.rfind(_MARK, 0, at)) >= 0:
        found = _braced(text, at + len(_MARK))
        if found is not None:
            return found.strip()
    return None


def _braced(text: str, start: int) -> str | None:
    rest = text[start:].lstrip()
    if not rest.startswith("{"):
        return None
    depth = 0
    for place, letter in enumerate(rest):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return rest[1:place]
    return None
