"""What an episode was worth: named functions with weights."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orchestrator.errors import TaskError
from orchestrator.tasks.episode import Episode
from orchestrator.tasks.place import place_of

Score = Callable[[Episode], Awaitable[float]]


@dataclass(frozen=True)
class Reward:
    """One way to judge an episode.

    Attributes:
        name: unique within the task; metrics carry it.
        score: an async function, episode -> finite number.
        weight: share in the whole, relative to the other rewards.
    """

    name: str
    score: Score
    weight: float = 1.0

    async def __call__(self, episode: Episode) -> float:
        """The score.

        Raises:
            TaskError: it is no finite number.
        """
        value = await self.score(episode)
        if isinstance(value, bool | int | float) and math.isfinite(value):
            return float(value)
        raise TaskError(
            f"reward {self.name!r} gave {value!r} for sample {episode.sample.id!r}",
            where=place_of(self.score),
            why="one such value spoils the advantage of its whole group",
            fix="return a finite number for every episode, 0.0 when it can't be judged",
        )


@dataclass(frozen=True)
class Scores:
    """Each reward's number by name, and the weighted mean of them."""

    parts: dict[str, float]
    total: float


async def judge(rewards: Sequence[Reward], episode: Episode) -> Scores:
    """Ask every reward. The total is their weighted mean, so that it means the same with every engine."""
    parts = {reward.name: await reward(episode) for reward in rewards}
    weights = sum(reward.weight for reward in rewards)
    return Scores(parts, sum(reward.weight * parts[reward.name] for reward in rewards) / weights)
