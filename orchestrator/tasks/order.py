"""The order in which samples are met: shuffled anew in each pass, the same for a seed, and open at any place."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from orchestrator.tasks.sample import Sample


class Order:
    """An endless row of samples over one sequence.

    The place is all the state there is: what resumes after n samples goes on with `order.stream(n)`.

    Args:
        shuffle: off keeps the given order in every pass, as validation wants it.
    """

    def __init__(self, samples: Sequence[Sample], seed: int, *, shuffle: bool = True) -> None:
        self._samples, self._seed, self._shuffle = samples, seed, shuffle
        self._pass, self._places = -1, list(range(len(samples)))

    def __getitem__(self, place: int) -> Sample:
        """The sample at a place, counted from 0 over all passes."""
        number, within = divmod(place, len(self._samples))
        return self._samples[self._of(number)[within]]

    def stream(self, start: int = 0) -> Iterator[Sample]:
        """Samples from a place on, without end."""
        while True:
            yield self[start]
            start += 1

    def _of(self, number: int) -> list[int]:
        if self._shuffle and number != self._pass:
            self._pass, self._places = number, list(range(len(self._samples)))
            random.Random(f"{self._seed}/{number}").shuffle(self._places)  # noqa: S311  (an order, no secret)
        return self._places
