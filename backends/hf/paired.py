"""Two models on the same items: more than noise or not, and what the items could have shown. Stdlib only."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from fractions import Fraction

from backends.hf.intervals import Interval

_LEVEL = 0.05
_POWER = 2.8015852
"""Standard errors between no difference and one that is found with 80 % power at a level of 5 %: 1.95996 + 0.84162."""
_NONE = 3.0
"""Rule of three: n items without a single change are what a share of changes of up to 3 / n still gives."""


def mcnemar(better: int, worse: int) -> float:
    """Two-sided exact p-value that as many items got better as got worse (McNemar 1947, by the binomial)."""
    changed = better + worse
    tail = sum(math.comb(changed, k) for k in range(min(better, worse) + 1))
    return min(1.0, float(Fraction(2 * tail, 1 << changed)))


def detectable(differences: Sequence[float]) -> float:
    """Smallest mean difference that these items would show four times out of five, as they vary.

    Args:
        differences: new score minus old, one an item; at least one.
    """
    n, spread = len(differences), statistics.pstdev(differences)
    return _POWER * spread / math.sqrt(n) if spread else _NONE / n


def beyond_noise(interval: Interval, p_value: float | None) -> bool:
    """Whether a difference is one: its interval leaves out zero and, with right and wrong items, the exact test agrees.

    With few changed items the bootstrap interval is too narrow: five better and none worse looks sure to it.
    """
    return not interval[0] <= 0 <= interval[1] and (p_value is None or p_value < _LEVEL)


def sentence(names: tuple[str, str], score: float, interval: Interval, items: int, *, points: bool, sure: bool) -> str:
    """The difference in words: a winner is named only where there is one.

    Args:
        names: the new model and the old one.
        points: scores are shares of right answers, and differences are told in points of a hundred.
    """
    new, old = names
    scale, unit, digits = (100, " points", 1) if points else (1, "", 3)
    low, high = (f"{end * scale:.{digits}f}" for end in interval)
    found = f"95 % interval {low} to {high}, {items} items"
    if not sure:
        return f"{new} and {old} can't be told apart: {score * scale:+.{digits}f}{unit}, {found}."
    word = "better" if score > 0 else "worse"
    return f"{new} is {word} than {old} by {abs(score) * scale:.{digits}f}{unit}, {found}."
