"""How sure a score, or a difference between two, is. Standard library only.

Every test is paired: two models answer the same items, so the spread between easy and hard items cancels out.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Interval = tuple[float, float]

LEVEL = 0.05
"""A difference is called one below this chance of it in models that are equally good."""

_Z = 1.959963984540054
_Z_POWER = 0.8416212335729143
_RESAMPLES = 2000
_SEED = 20240229
_EXACT = 1000
"""Discordant pairs up to which McNemar's test is the exact binomial one."""


def wilson(successes: float, n: int) -> Interval:
    """95 % Wilson score interval of a share; right for small n and shares near 0 or 1, where the normal one is not."""
    share, z2 = successes / n, _Z * _Z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def bootstrap(values: Sequence[float]) -> Interval:
    """95 % percentile bootstrap interval of the mean, with a fixed seed: the same values give the same interval.

    For a paired comparison pass the differences item by item; pairing removes the spread between easy and hard items.
    """
    source = random.Random(_SEED)  # noqa: S311  (statistics, not secrets)
    n = len(values)
    means = sorted(math.fsum(source.choices(values, k=n)) / n for _ in range(_RESAMPLES))
    return means[round(0.025 * (_RESAMPLES - 1))], means[round(0.975 * (_RESAMPLES - 1))]


def mcnemar(better: int, worse: int) -> float:
    """Two-sided p of McNemar's test, from the pairs that changed: exact up to a thousand of them, then chi-squared."""
    changed = better + worse
    if changed == 0:
        return 1.0
    if changed > _EXACT:
        return math.erfc(math.sqrt((abs(better - worse) - 1) ** 2 / changed / 2)) if better != worse else 1.0
    tail = sum(math.comb(changed, k) for k in range(min(better, worse) + 1))
    return min(1.0, tail / (1 << (changed - 1)))


def sign_flip(steps: Sequence[float]) -> float:
    """Two-sided p that differences as large come from signs thrown at random: McNemar's test for graded scores."""
    moved = [step for step in steps if step]
    if not moved:
        return 1.0
    seen = abs(math.fsum(moved)) * (1 - 1e-9)
    if len(moved) <= 11:
        sums = [0.0]
        for step in moved:
            sums = [total + sign for total in sums for sign in (step, -step)]
        return sum(abs(total) >= seen for total in sums) / len(sums)
    source = random.Random(_SEED)  # noqa: S311  (statistics, not secrets)
    hits = sum(
        abs(math.fsum(step if source.getrandbits(1) else -step for step in moved)) >= seen for _ in range(_RESAMPLES)
    )
    return (hits + 1) / (_RESAMPLES + 1)


def smallest(steps: Sequence[float], *, binary: bool) -> float | None:
    """The smallest true difference that this many items would show in four of five tries, disagreeing as they did.

    Two-sided at 5 %, normal approximation. With scores of 0 and 1 at least six items must change, all one way, before
    McNemar's test can say anything.

    Returns:
        None: there are too few items for any.
    """
    n = len(steps)
    mean = math.fsum(steps) / n
    spread = math.sqrt(math.fsum((step - mean) ** 2 for step in steps) / (n - 1)) if n > 1 else 0.0
    needed = (_Z + _Z_POWER) * spread / math.sqrt(n)
    least = _fewest() / n if binary else 0.0
    found = max(needed, least)
    return None if n < _fewest() or (binary and found > 1) else found


def _fewest() -> int:
    """Pairs that must change, all one way, for p to fall below the level."""
    return next(k for k in range(1, 64) if mcnemar(k, 0) < LEVEL)


def is_binary(values: Sequence[float]) -> bool:
    """Whether every score is 0 or 1."""
    return all(value in (0.0, 1.0) for value in values)
