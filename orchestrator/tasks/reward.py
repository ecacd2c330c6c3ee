"""What an episode was worth: named functions with weights."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orchestrator.errors import PostTrainError, TaskError
from orchestrator.tasks.episode import Episode
from orchestrator.tasks.place import place_of, raised_at

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
            TaskError: the function raised, or gave no finite number.
        """
        try:
            value = await self.score(episode)
        except PostTrainError:
            raise
        except Exception as error:
            raise self._wrong(episode, f"raised {type(error).__name__}: {error}", raised_at(error)) from error
        if not isinstance(value, bool | int | float) or not math.isfinite(value):
            raise self._wrong(episode, f"gave {value!r}", place_of(self.score))
        return float(value)

    def _wrong(self, episode: Episode, what: str, where: str | None) -> TaskError:
        return TaskError(
            f"reward {self.name!r} {what} for sample {episode.sample.id!r}",
            where=where,
            why="one episode without a reward spoils the advantage of its whole group",
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
