"""No more than so many rows of a split: the first that come."""

from __future__ import annotations

from collections import Counter

from data_prep.reading import Reading
from data_prep.splits import SPLITS, Shares, Split
from data_prep.work import RECORD, Result

_SPLIT = 4
"""Place of the split's number in a record."""


class Limits:
    """Cuts results as they come.

    Attributes:
        full: whether every split that can get rows has as many as it may.
    """

    def __init__(self, limit: int | None, reading: Reading, shares: Shares) -> None:
        self._limit, self._have = limit, Counter[Split]()
        given = {split for _, split in reading.given}
        shared = {"train": 1 - shares.validation - shares.test, "validation": shares.validation, "test": shares.test}
        self._wanted = given or {split for split in SPLITS if shared[split] > 0}
        self.full = False

    def cut(self, result: Result) -> None:
        """Take out of a result what is over the limit."""
        assert self._limit
        kept, index = {split: list[bytes]() for split in SPLITS}, list[bytes]()
        texts = {split: iter(found) for split, found in result.texts.items()}
        for record in result.index:
            split = SPLITS[RECORD.unpack(record)[_SPLIT]]
            text = next(texts[split])
            if self._have[split] < self._limit:
                self._have[split] += 1
                kept[split].append(text)
                index.append(record)
        result.rows -= len(result.index) - len(index)
        result.texts, result.index = kept, index
        self.full = all(self._have[split] >= self._limit for split in self._wanted)
