"""Answers ready to be judged, and what judges them. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backends.trainer.items import Item


@dataclass(frozen=True)
class Written:
    """An answer ready to be judged: its text as GRPO gives it to reward functions, the answer proper, its token ids."""

    text: str
    answer: str
    ids: list[int]


Metric = Callable[[Sequence[Item], Sequence[Written]], list[float]]
