"""How long rows are, in tokens: counted by length, so that memory does not grow with rows."""

from __future__ import annotations

from collections import Counter

from data_prep.manifest import Lengths


def lengths(counted: Counter[int], tokenizer: str) -> Lengths:
    """The shape of a set's lengths.

    Args:
        counted: rows by length in tokens.
        tokenizer: sha256 of what made the tokens.
    """
    ordered, rows = sorted(counted.items()), counted.total()
    histogram: Counter[int] = Counter()
    for length, count in ordered:
        histogram[1 << max(length, 1).bit_length()] += count
    return Lengths(
        tokenizer=tokenizer,
        shortest=ordered[0][0],
        median=_at(ordered, rows * 0.5),
        p95=_at(ordered, rows * 0.95),
        longest=ordered[-1][0],
        total=sum(length * count for length, count in ordered),
        histogram={str(under): count for under, count in sorted(histogram.items())},
    )


def _at(ordered: list[tuple[int, int]], place: float) -> int:
    """The length that a share of the rows stays within."""
    seen = 0
    for length, count in ordered:
        seen += count
        if seen >= place:
            return length
    return ordered[-1][0]
