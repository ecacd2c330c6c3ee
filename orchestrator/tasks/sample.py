"""Samples: what one episode is about. A task has two sequences of them, which share nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

Split = Literal["train", "validation"]


@dataclass(frozen=True)
class Sample:
    """One prompt's worth of data.

    Attributes:
        id: unique within the task; logs and rollouts name it.
        data: whatever the environment and the rewards read, as JSON has it: samples cross process borders.
    """

    id: str
    data: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """sha256 of the data in canonical JSON, hex: equal for equal content under any id.

        Raises:
            TypeError, ValueError: the data can't be written as JSON.
        """
        canonical = json.dumps(self.data, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


class Generated(Sequence[Sample]):
    """Samples made from their numbers when they are asked for, such as seeded templates.

    Args:
        make: number -> sample; the same number always gives the same sample.
        numbers: the numbers of this split. Give training and validation ranges that don't meet.
    """

    def __init__(self, make: Callable[[int], Sample], numbers: range) -> None:
        self._make, self._numbers = make, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Generated: ...
    def __getitem__(self, index: int | slice) -> Sample | Generated:
        if isinstance(index, slice):
            return Generated(self._make, self._numbers[index])
        return self._make(self._numbers[index])
