"""The quickstart's sums as a task: one question, one answer, two rewards."""

from __future__ import annotations

from pathlib import Path

from orchestrator.tasks import (
    Environment,
    Episode,
    Limits,
    Message,
    Opening,
    Policy,
    Reply,
    Reward,
    Sample,
    Task,
    read_rows,
    split,
)
from orchestrator.tasks.message import assistant
from orchestrator.tasks.policies import speaking

ROWS = Path(__file__).parents[1] / "quickstart" / "data" / "prompts.jsonl"


class Asked(Environment):
    """The question, and over after one reply."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    async def init(self) -> Opening:
        return Opening(list(self._sample.data["prompt"]))

    async def step(self, message: Message) -> Reply:
        return Reply(done=True)


async def exact(episode: Episode) -> float:
    """1 for the sum and nothing beside it."""
    return float(episode.answer.strip() == episode.sample.data["answer"])


async def number(episode: Episode) -> float:
    """1 for a bare number, right or wrong: the form without the arithmetic."""
    return float(episode.answer.strip().isdigit())


def solved(sample: Sample) -> Policy:
    """A policy that knows the sum."""
    return speaking(assistant(sample.data["answer"]))


def task(*, data: str = str(ROWS), max_tokens: int = 6) -> Task:
    """A tenth of the questions is kept for validation; the recipe's eval has others still."""
    train, validation = split(read_rows(data, "answer"))
    return Task(
        name="sums",
        train=train,
        validation=validation,
        environment=Asked,
        rewards=[Reward("exact", exact, 0.8), Reward("number", number, 0.2)],
        limits=Limits(max_turns=1, max_tokens=max_tokens, context=64),
        reference=solved,
    )
