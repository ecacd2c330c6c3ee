"""How sure a score is. Standard library only."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Interval = tuple[float, float]

_Z = 1.959963984540054
_RESAMPLES = 2000
_SEED = 20240229


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


def is_binary(values: Sequence[float]) -> bool:
    """Whether every score is 0 or 1."""
    return all(value in (0.0, 1.0) for value in values)
