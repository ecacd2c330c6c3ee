"""Episodes played by policies that need no model: what `tasks try` shows, and `tasks check` judges."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.errors import PostTrainError, TaskError, UsageError
from orchestrator.nearest import nearest
from orchestrator.tasks.episode import Episode
from orchestrator.tasks.place import place_of
from orchestrator.tasks.playing import Policy, play
from orchestrator.tasks.policies import empty, garbage
from orchestrator.tasks.reward import Scores, judge
from orchestrator.tasks.sample import Sample
from orchestrator.tasks.task import Task

BAD = ("empty", "garbage")


@dataclass(frozen=True)
class Trial:
    """One episode by a scripted policy.

    Attributes:
        policy: `reference`, `empty` or `garbage`.
        seconds: wall clock of the episode and its rewards.
    """

    policy: str
    episode: Episode
    scores: Scores
    seconds: float


def names(task: Task) -> tuple[str, ...]:
    """The policies that can play a task, the best first."""
    return (*(("reference",) if task.reference else ()), *BAD)


def chosen(task: Task, name: str) -> Callable[[Sample], Policy]:
    """A policy by name, for a sample.

    Raises:
        UsageError: no policy is called so, or the task offers no reference.
    """
    if name == "reference" and task.reference:
        return task.reference
    if name not in BAD:
        raise UsageError(f"no policy of task {task.name!r} is called {name!r}{nearest(name, names(task))}")
    return lambda _: empty() if name == "empty" else garbage()


async def attempt(task: Task, sample: Sample, name: str) -> Trial:
    """Play and judge one episode.

    Raises:
        TaskError: the environment, a reward or the reference failed.
    """
    began = time.monotonic()
    try:
        episode = await play(task, sample, chosen(task, name)(sample))
    except PostTrainError:
        raise
    except Exception as error:
        what = f"the {name} policy of task {task.name!r} raised {type(error).__name__}: {error} (sample {sample.id!r})"
        raise TaskError(what, where=place_of(task.reference), fix="mend the task's `reference`") from error
    return Trial(name, episode, await judge(task.rewards, episode), time.monotonic() - began)
