"""A task with the model as its policy: loaded, and its episodes played together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backends.trainer.chat import Renderer
from backends.trainer.speaker import Batch, Generate, Speaker, Track
from orchestrator.errors import PostTrainError
from orchestrator.harness import WorkError
from orchestrator.tasks import Episode, Opening, Sample, Scores, Task, judge, load, play
from orchestrator.tasks.playing import naming


@dataclass(frozen=True)
class Played:
    """An episode, what it was worth, and its tokens."""

    episode: Episode
    scores: Scores
    track: Track


def loaded(name: str, options: dict[str, str]) -> Task:
    """The task.

    Raises:
        WorkError: it can't be made here.
    """
    try:
        return load(name, options)
    except PostTrainError as error:
        raise work_error(error) from error


def played(
    task: Task,
    samples: Sequence[Sample],
    chat: Renderer,
    generate: Generate,
    context: int,
    *,
    finished: Callable[[], None] = lambda: None,
) -> list[Played]:
    """An episode for each sample, all of them together.

    Args:
        generate: is given the places of the samples as the numbers of their episodes.
        context: tokens that an episode may have in all.
        finished: called at the end of each episode.

    Raises:
        WorkError: the environment, a reward or the chat template failed.
    """
    try:
        return asyncio.run(_together(task, samples, chat, generate, context, finished=finished))
    except PostTrainError as error:
        raise work_error(error) from error


def openings(task: Task, samples: Sequence[Sample]) -> list[Opening]:
    """What an episode of each sample opens with.

    Raises:
        WorkError: the environment failed.
    """

    async def each(sample: Sample) -> Opening:
        with naming(task, sample):
            environment = task.environment(sample)
            try:
                return await environment.init()
            finally:
                await environment.close()

    async def one_by_one() -> list[Opening]:
        return [await each(sample) for sample in samples]

    try:
        return asyncio.run(one_by_one())
    except PostTrainError as error:
        raise work_error(error) from error


def work_error(error: PostTrainError) -> WorkError:
    """A task's error as the worker's own, with its place and details in the message."""
    message = f"{error.where}: {error.what}" if error.where else error.what
    return WorkError("task.failed", "; ".join((message, *error.details)), why=error.why, fix=error.fix)


async def _together(
    task: Task,
    samples: Sequence[Sample],
    chat: Renderer,
    generate: Generate,
    context: int,
    *,
    finished: Callable[[], None],
) -> list[Played]:
    batch = Batch(generate, len(samples))
    speakers = [Speaker(chat, batch, context, number) for number in range(len(samples))]

    async def one(sample: Sample, speaker: Speaker) -> Episode:
        episode = await play(task, sample, speaker)
        batch.leave()
        finished()
        return episode

    episodes = await asyncio.gather(*(one(s, v) for s, v in zip(samples, speakers, strict=True)))
    scores = [await judge(task.rewards, episode) for episode in episodes]
    return [Played(e, s, v.track) for e, s, v in zip(episodes, scores, speakers, strict=True)]
