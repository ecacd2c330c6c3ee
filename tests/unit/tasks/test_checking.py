"""What `tasks check` finds: each fault planted in a task that is sound otherwise."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
from typing import Any

import pytest

from orchestrator.tasks import Environment, Episode, Limits, Message, Opening, Reply, Reward, Sample, Task, checking
from orchestrator.tasks.checking import check
from orchestrator.tasks.message import assistant, user
from orchestrator.tasks.policies import speaking

COUNTER = itertools.count()


class Echo(Environment):
    def __init__(self, sample: Sample) -> None:
        self.word = sample.data["word"]

    async def init(self) -> Opening:
        return Opening([user(f"Say {self.word}")])

    async def step(self, message: Message) -> Reply:
        return Reply(done=True)


class Random(Echo):
    async def init(self) -> Opening:
        return Opening([user(f"Say {next(COUNTER)}")])


class Silent(Echo):
    async def init(self) -> Opening:
        return Opening([user(" ")])


class Endless(Echo):
    async def step(self, message: Message) -> Reply:
        return Reply([user("go on")])


class Broken(Echo):
    async def step(self, message: Message) -> Reply:
        raise KeyError("missing")


async def said(episode: Episode) -> float:
    return float(episode.answer == episode.sample.data["word"])


async def constant(episode: Episode) -> float:
    return 0.5


async def wavering(episode: Episode) -> float:
    return float(next(COUNTER))


async def nothing(episode: Episode) -> float:
    return float("nan")


def sound(**changes: Any) -> Task:
    words = [Sample(str(n), {"word": f"word{n}"}) for n in range(6)]
    task = Task("echo", words[:4], words[4:], Echo, [Reward("said", said)], Limits(2, 16, 64), knows)
    return dataclasses.replace(task, **changes)


def knows(sample: Sample) -> Any:
    return speaking(assistant(sample.data["word"]))


def codes(task: Task) -> dict[str, str]:
    return {problem.code: problem.level for problem in asyncio.run(check(task, 3)).problems}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, {}),
        ({"rewards": [Reward("c", constant)]}, {"spread": "error"}),
        ({"rewards": [Reward("w", wavering)]}, {"random": "error", "spread": "error"}),
        ({"rewards": [Reward("n", nothing)]}, {"raised": "error"}),
        ({"environment": Broken}, {"raised": "error"}),
        ({"environment": Random}, {"opening.random": "error", "random": "error"}),
        ({"environment": Silent}, {"opening.empty": "error"}),
        ({"environment": Endless}, {"turns": "error"}),
        ({"limits": Limits(1, 1, 64)}, {}),
        ({"reference": lambda s: speaking(assistant("x" * 100))}, {"spread": "error", "length.answer": "error"}),
        ({"limits": Limits(2, 1, 2)}, {"length.context": "error"}),
        ({"reference": None}, {"reference": "advice"}),
        ({"reference": None, "rewards": [Reward("c", constant)]}, {"reference": "advice", "spread": "advice"}),
        ({"train": [Sample(str(n), {"word": "same"}) for n in range(4)]}, {"duplicates": "advice"}),
    ],
)
def test_each_fault_is_found_and_nothing_else(changes: dict[str, Any], found: dict[str, str]) -> None:
    assert codes(sound(**changes)) == found


def test_slow_episodes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SLOW", -1.0)
    assert codes(sound()) == {"slow": "advice"}


def test_errors_name_the_line() -> None:
    (problem,) = asyncio.run(check(sound(environment=Broken), 3)).problems
    assert str(problem.where).startswith(__file__)
    assert "KeyError" in problem.message
