"""Two models on the same items: the difference, how sure it is, and a sentence. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backends.trainer import statistics


def difference(label: str, scores: Sequence[float], to: str, others: Sequence[float]) -> dict[str, Any]:
    """What `label` scores more than `to`, item by item.

    A difference is beyond noise only when the interval leaves out zero and the paired test agrees: with few items the
    bootstrap alone is too sure.
    """
    steps = [new - old for new, old in zip(scores, others, strict=True)]
    better, worse = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    binary = statistics.is_binary([*scores, *others])
    low, high = statistics.bootstrap(steps)
    p = statistics.mcnemar(better, worse) if binary else statistics.sign_flip(steps)
    found = {
        "to": to,
        "score": sum(steps) / len(steps),
        "interval": [low, high],
        "better_items": better,
        "worse_items": worse,
        "test": "mcnemar" if binary else "sign_flip",
        "p": p,
        "smallest": statistics.smallest(steps, binary=binary),
        "beyond_noise": not low <= 0 <= high and p < statistics.LEVEL,
    }
    return {**found, "sentence": sentence(label, found, len(steps), binary=binary)}


def sentence(label: str, found: dict[str, Any], items: int, *, binary: bool) -> str:
    """The difference in words; a difference inside the noise is never called one."""
    unit = " points" if binary else ""
    if found["beyond_noise"]:
        sign = 1 if found["score"] > 0 else -1
        low, high = sorted(sign * end for end in found["interval"])
        much = f"{_amount(sign * found['score'], binary)}{unit}, {_interval((low, high), binary)}, {items} items"
        return f"{label} is {'better' if sign > 0 else 'worse'} than {found['to']} by {much}"
    much = f"{'+' if found['score'] >= 0 else ''}{_amount(found['score'], binary)}{unit}"
    text = f"{label} and {found['to']} can't be told apart: {much}, {_interval(found['interval'], binary)}"
    return f"{text}, {items} items{_floor(found['smallest'], binary, unit)}"


def _interval(ends: Sequence[float], binary: bool) -> str:
    return f"95 % interval {_amount(ends[0], binary)} to {_amount(ends[1], binary)}"


def _floor(smallest: float | None, binary: bool, unit: str) -> str:
    if smallest is None:
        return ", too few to show any difference"
    return f"; a difference below {_amount(smallest, binary)}{unit} would hardly show" if smallest else ""


def _amount(value: float, binary: bool) -> str:
    """A score: shares in points of a hundred, without a minus in front of nothing."""
    return f"{round(100 * value, 1) + 0.0:.1f}" if binary else f"{round(value, 3) + 0.0:.3f}"
