"""A question that any number answers."""

from __future__ import annotations

from orchestrator.tasks import Environment, Episode, Limits, Message, Opening, Policy, Reply, Reward, Sample, Task
from orchestrator.tasks.message import assistant, system, user
from orchestrator.tasks.policies import speaking


class Asked(Environment):
    """The question, and over after one reply."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    async def init(self) -> Opening:
        return Opening([system("Be brief."), user(self._sample.data["question"])])

    async def step(self, message: Message) -> Reply:
        return Reply(done=True)


async def number(episode: Episode) -> float:
    """1 for a bare number."""
    return float(episode.answer.strip().isdigit())


def solved(sample: Sample) -> Policy:
    """A policy that knows one."""
    return speaking(assistant("7"))


def task() -> Task:
    """Questions that are told apart by a number of their own."""
    samples = [Sample(str(n), {"question": f"Name one of {n}."}) for n in range(80)]
    return Task(
        name="digits",
        train=samples[:64],
        validation=samples[64:],
        environment=Asked,
        rewards=[Reward("number", number)],
        limits=Limits(max_turns=1, max_tokens=12, context=128),
        reference=solved,
    )
