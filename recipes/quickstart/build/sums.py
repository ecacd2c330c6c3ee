"""The quickstart's task, and the one place that says which sums are kept for measuring.

A sum and its mirror (48+68 and 68+48) are always on the same side: the model can't pass by swapping the numbers.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

LIMIT = 100
HELD_OUT_SHARE = 0.10


class Sum(NamedTuple):
    """Two numbers from 0 to 99."""

    left: int
    right: int

    @property
    def question(self) -> str:
        """What the user says."""
        return f"What is {self.left}+{self.right}"

    @property
    def answer(self) -> str:
        """The only reply that counts, to the letter."""
        return str(self.left + self.right)

    @property
    def held_out(self) -> bool:
        """Whether every kind of training must avoid it: by hash, so that no seed and no script can change it."""
        digest = hashlib.sha256(f"{min(self)}+{max(self)}".encode()).digest()
        return int.from_bytes(digest[:4], "big") < HELD_OUT_SHARE * 2**32


def sums(*, held_out: bool) -> list[Sum]:
    """All sums of one side, in order."""
    return [one for one in (Sum(a, b) for a in range(LIMIT) for b in range(LIMIT)) if one.held_out == held_out]
