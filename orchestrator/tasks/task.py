"""A task: samples, an environment, rewards, and the limits that an episode needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from orchestrator.errors import TaskError
from orchestrator.tasks.environment import Environment
from orchestrator.tasks.playing import Policy
from orchestrator.tasks.reward import Reward, Score
from orchestrator.tasks.sample import Sample, Split


@dataclass(frozen=True)
class Limits:
    """What an episode may need, in the words of the seeds: raise them together.

    Attributes:
        max_turns: messages of the model's; an episode that isn't done by then is cut off.
        max_tokens: tokens of one message of the model's.
        context: tokens of the whole conversation, the last message included.
    """

    max_turns: int = 1
    max_tokens: int = 512
    context: int = 2048


@dataclass(frozen=True)
class Task:
    """Everything that RL optimises, for any engine.

    Attributes:
        name: short; metrics and reports carry it.
        train: samples to learn from.
        validation: samples that are never trained on.
        environment: makes the environment of one episode from its sample.
        rewards: at least one.
        limits: see there.
        reference: sample -> a policy that solves it, without any model. `tasks try` and `check` play it.
    """

    name: str
    train: Sequence[Sample]
    validation: Sequence[Sample]
    environment: Callable[[Sample], Environment]
    rewards: Sequence[Reward]
    limits: Limits = Limits()
    reference: Callable[[Sample], Policy] | None = None

    def __post_init__(self) -> None:
        problems = list(_problems(self))
        if problems:
            raise TaskError(f"task {self.name!r} can't be used", details=problems)

    def samples(self, split: Split) -> Sequence[Sample]:
        """The samples of `train` or `validation`."""
        if split not in get_args(Split):
            raise ValueError(f"no split is called {split!r}")
        return self.train if split == "train" else self.validation


def _problems(task: Task) -> list[str]:
    names, limits = [reward.name for reward in task.rewards], task.limits
    twice = sorted({name for name in names if names.count(name) > 1})
    found = [f"two rewards are called {name!r}; metrics could not tell them apart" for name in twice]
    found += [f"reward {r.name!r} has weight {r.weight}; it must be above 0" for r in task.rewards if not r.weight > 0]
    found += [f"reward {r.name!r} is not `async def`" for r in task.rewards if not _is_async(r.score)]
    found += [f"`{split}` holds no samples" for split in get_args(Split) if not len(task.samples(split))]
    found += [] if names else ["it has no reward"]
    if min(limits.max_turns, limits.max_tokens, limits.context) < 1:
        found.append(f"the limits must be at least 1: {limits}")
    elif limits.max_tokens >= limits.context:
        found.append(f"max_tokens {limits.max_tokens} leaves no room for a prompt within context {limits.context}")
    return found


def _is_async(score: Score) -> bool:
    return inspect.iscoroutinefunction(score) or inspect.iscoroutinefunction(getattr(score, "__call__", None))  # noqa: B004
