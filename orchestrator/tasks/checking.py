"""What would keep a task from teaching anything, found without a model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from orchestrator.errors import PostTrainError
from orchestrator.tasks.message import Message, text
from orchestrator.tasks.overlap import LOOKED_AT
from orchestrator.tasks.place import place_of
from orchestrator.tasks.playing import naming
from orchestrator.tasks.sample import Sample
from orchestrator.tasks.task import Task
from orchestrator.tasks.trial import Trial, attempt, names

CHARACTERS = 4
"""Of a token, roughly: there is no tokenizer here."""
SLOW = 5.0
"""Seconds of a scripted episode above which rollouts wait for the environment and not for the model."""
_ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True)
class Problem:
    """Something found. An `error` stops learning, `advice` may."""

    code: str
    level: Literal["error", "advice"]
    message: str
    fix: str
    where: str | None = None


@dataclass(frozen=True)
class Checked:
    """What was played, and what is wrong."""

    trials: tuple[Trial, ...]
    problems: tuple[Problem, ...]


async def check(task: Task, count: int) -> Checked:
    """Play `count` samples of each split with every scripted policy, each twice."""
    samples = [*_spread(task.train, count), *_spread(task.validation, count)]
    try:
        unlike = [problem for sample in samples for problem in await _opening(task, sample)]
        twice = [await _both(task, sample, name) for sample in samples for name in names(task)]
    except PostTrainError as error:
        problem = Problem("raised", "error", error.what, error.fix or "mend the task", error.where)
        return Checked((), (problem,))
    trials = [first for first, _ in twice]
    found = [*unlike, *_same(twice), *_learnable(task, trials), *_lengths(task, trials), *_slow(trials), *_double(task)]
    return Checked(tuple(trials), tuple(_once(found)))


async def _both(task: Task, sample: Sample, name: str) -> tuple[Trial, Trial]:
    return await attempt(task, sample, name), await attempt(task, sample, name)


def _spread(samples: Sequence[Sample], count: int) -> list[Sample]:
    """Samples from the whole length, not from the beginning alone."""
    step = max(1, len(samples) // count)
    return [samples[place] for place in range(0, len(samples), step)][:count]


async def _opening(task: Task, sample: Sample) -> list[Problem]:
    first, second = await _opened(task, sample), await _opened(task, sample)
    if first != second:
        fix = "decide everything random from the sample's data, not at init"
        return [_error("opening.random", f"sample {sample.id!r} opens differently each time", fix, task)]
    wrong = [message for message in first if message.get("role") not in _ROLES or not text(message).strip()]
    if wrong or not first or first[-1]["role"] == "assistant":
        fix = "open with messages that have a role and a text, the last of them not the assistant's"
        return [_error("opening.empty", f"sample {sample.id!r} opens with nothing to answer: {first}", fix, task)]
    return []


async def _opened(task: Task, sample: Sample) -> list[Message]:
    with naming(task, sample):
        environment = task.environment(sample)
        try:
            return (await environment.init()).messages
        finally:
            await environment.close()


def _same(twice: list[tuple[Trial, Trial]]) -> Iterator[Problem]:
    for first, second in twice:
        if first.scores != second.scores or first.episode != second.episode:
            what = f"{first.policy} played sample {first.episode.sample.id!r} twice and earned {first.scores.parts}, "
            fix = "seed what is random with the sample's data; keep nothing between episodes"
            yield Problem("random", "error", f"{what}then {second.scores.parts}, or was told otherwise", fix)


def _learnable(task: Task, trials: list[Trial]) -> Iterator[Problem]:
    """Groups whose rewards are all equal teach nothing: good and bad must differ on every sample."""
    for sample in {trial.episode.sample.id: None for trial in trials}:
        group = {trial.policy: trial for trial in trials if trial.episode.sample.id == sample}
        good, worst = group.get("reference"), max(group[name].scores.total for name in ("empty", "garbage"))
        if good is None:
            continue
        if good.scores.total <= worst:
            message = (
                f"on sample {sample!r} the reference earns {good.scores.total:.3g}, nonsense as much as {worst:.3g}"
            )
            yield _error("spread", message, "make the reward tell a right answer from a wrong one", task)
        if good.episode.truncated:
            message = f"the reference is not done with sample {sample!r} after {task.limits.max_turns} turns"
            yield _error("turns", message, "raise max_turns, or give done=True earlier", task)
    if task.reference is None:
        yield from _unsolved(task, trials)


def _unsolved(task: Task, trials: list[Trial]) -> Iterator[Problem]:
    if trials and min(trial.scores.total for trial in trials) > 0:
        message = "even an empty answer is rewarded on every sample"
        yield Problem("spread", "advice", message, "give 0 to what is no answer", place_of(task.rewards[0].score))
    message = "the task offers no reference policy, so nobody knows whether a right answer is rewarded"
    yield Problem("reference", "advice", message, "give the task `reference`: sample -> a policy that solves it")


def _lengths(task: Task, trials: list[Trial]) -> Iterator[Problem]:
    for trial in trials:
        if trial.policy != "reference":
            continue
        sizes = [_size(message) for message in trial.episode.messages]
        longest, whole = max(_size(message) for message in trial.episode.said), sum(sizes)
        if longest > task.limits.max_tokens:
            message = f"a right answer takes about {longest} tokens, max_tokens is {task.limits.max_tokens}"
            yield _error("length.answer", message, "raise max_tokens, and context with it", task)
        if whole > task.limits.context:
            message = f"a right episode takes about {whole} tokens, context is {task.limits.context}"
            yield _error("length.context", message, "raise context, or shorten what tools give back", task)


def _slow(trials: list[Trial]) -> Iterator[Problem]:
    slowest = max(trials, key=lambda trial: trial.seconds)
    if slowest.seconds > SLOW:
        message = (
            f"{slowest.policy} took {slowest.seconds:.1f} s for sample {slowest.episode.sample.id!r}, without a model"
        )
        yield Problem(
            "slow", "advice", message, "make the environment or the reward faster: every rollout waits for it"
        )


def _double(task: Task) -> Iterator[Problem]:
    looked = Counter(sample.digest for sample in islice(task.train, LOOKED_AT))
    twice = sum(times - 1 for times in looked.values())
    if twice > 0.05 * sum(looked.values()):
        message = f"{twice} of {sum(looked.values())} training samples are there already"
        yield Problem("duplicates", "advice", message, "remove the copies: they are trained on more than the rest")


def _size(message: Message) -> int:
    calls = json.dumps(message["tool_calls"]) if message.get("tool_calls") else ""
    return (len(text(message)) + len(calls)) // CHARACTERS


def _error(code: str, message: str, fix: str, task: Task) -> Problem:
    return Problem(code, "error", message, fix, place_of(task.environment))


def _once(problems: Sequence[Problem]) -> Iterator[Problem]:
    """One of each kind: the first, with the number of the others."""
    counts = Counter(problem.code for problem in problems)
    for code, first in {problem.code: problem for problem in reversed(problems)}.items():
        more = f" (and {counts[code] - 1} more alike)" if counts[code] > 1 else ""
        yield Problem(first.code, first.level, first.message + more, first.fix, first.where)
