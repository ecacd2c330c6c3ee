"""How much of what an adapter does to the answers arrived: none, all, or twice of it.

The tolerance of a dtype is that of single answers. A gentle adapter changes less than that, and would be lost unseen;
but its effect has a direction, along which noise adds up to nothing.
"""

from __future__ import annotations

from typing import Any

ALLOWED = 0.3
_NOISE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 2e-2, "8 bits": 0.1, "4 bits": 0.37}
"""Mean difference of one answer between paths that mean the same: `python -m benchmarks.probe_noise`."""
_SPREAD = 2
"""Root mean square of that noise over its mean, which a few large ones make."""
_BLIND = 0.9


def arrived(expected: dict[str, Any], found: dict[str, Any], arithmetic: str) -> tuple[float, float] | None:
    """The share of the effect that is there, 1 when all is well, and how far from 1 noise may bring it.

    None where the maker had no adapter, or one whose effect noise would hide.
    """
    if not expected.get("without"):
        return None
    made, base = _flat(row["logprobs"] for row in expected["rows"]), _flat(expected["without"])
    now = _flat(row["logprobs"] for row in found["rows"])
    effect = [a - b for a, b in zip(made, base, strict=True)]
    square = sum(e * e for e in effect)
    noise = len(effect) * (_SPREAD * _NOISE[arithmetic]) ** 2
    allowed = ALLOWED + noise / max(square, 1e-30)  # what was noise where it was measured is not there now
    if not allowed < _BLIND:
        return None
    return sum((n - b) * e for n, b, e in zip(now, base, effect, strict=True)) / square, allowed


def _flat(rows: Any) -> list[float]:
    return [value for row in rows for value in row]
