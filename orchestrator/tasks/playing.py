"""One episode, played: any policy against any environment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from orchestrator.errors import PostTrainError, TaskError
from orchestrator.tasks.environment import Environment
from orchestrator.tasks.episode import End, Episode
from orchestrator.tasks.message import Message, Tool
from orchestrator.tasks.place import place_of, raised_at
from orchestrator.tasks.sample import Sample

if TYPE_CHECKING:
    from orchestrator.tasks.task import Task

Policy = Callable[[Sequence[Message], Sequence[Tool]], Awaitable[Message]]
"""The conversation so far, and the tools -> the model's next message."""


class OutOfTokens(Exception):
    """A policy's way to say that the tokens are used up; with what it had said by then, if that is worth keeping."""

    def __init__(self, message: Message | None = None) -> None:
        super().__init__("out of tokens")
        self.message = message


async def play(task: Task, sample: Sample, policy: Policy) -> Episode:
    """Play one episode to its end, and close the environment whatever happens.

    Raises:
        TaskError: the environment raised, with the line of its file. What the policy raises comes through as it is.
    """
    with naming(task, sample):
        environment = task.environment(sample)
    try:
        return await _turns(task, environment, sample, policy)
    finally:
        with naming(task, sample):
            await environment.close()


@contextmanager
def naming(task: Task, sample: Sample) -> Iterator[None]:
    """Turn an exception of the environment's into an error that names its line; for engines with their own loop too.

    Raises:
        TaskError: something in the body raised.
    """
    try:
        yield
    except PostTrainError:
        raise
    except Exception as error:
        own = (place_of(task.environment) or "").rpartition(":")[0]
        raise TaskError(
            f"the environment of task {task.name!r} raised {type(error).__name__}: {error} (sample {sample.id!r})",
            where=raised_at(error, own),
            why="an episode that broke off by mistake would be judged as if the model had done it",
            fix="handle the case in the environment; what a model writes is answered in words, not with an exception",
        ) from error


async def _turns(task: Task, environment: Environment, sample: Sample, policy: Policy) -> Episode:
    with naming(task, sample):
        opening = await environment.init()
    messages, rewards = list(opening.messages), list[Mapping[str, float]]()
    end: End = "turns"
    for _ in range(task.limits.max_turns):
        try:
            said = await policy(tuple(messages), tuple(opening.tools))
        except OutOfTokens as out:
            messages += [out.message] if out.message else []
            end = "tokens"
            break
        with naming(task, sample):
            reply = await environment.step(said)
        messages += [said, *reply.messages]
        rewards.append(reply.rewards)
        if reply.done:
            end = "done"
            break
    return Episode(sample, tuple(messages), len(opening.messages), tuple(rewards), end)
