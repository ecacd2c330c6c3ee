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
)
from orchestrator.tasks.message import assistant
from orchestrator.tasks.policies import speaking

DATA = Path(__file__).parents[1] / "quickstart" / "data"


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


def task(
    *, data: str = str(DATA / "prompts.jsonl"), held_out: str = str(DATA / "held_out.jsonl"), max_tokens: int = 6
) -> Task:
    """The quickstart's split: its held-out sums are in none of the other files, the SFT's neither."""
    return Task(
        name="sums",
        train=read_rows(data, "answer"),
        validation=read_rows(held_out, "answer"),
        environment=Asked,
        rewards=[Reward("exact", exact, 0.8), Reward("number", number, 0.2)],
        limits=Limits(max_turns=1, max_tokens=max_tokens, context=64),
        reference=solved,
    )
