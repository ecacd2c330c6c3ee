"""Questions with short answers from a JSON Lines file, graded by exact match. The template to copy.

    post-train tasks new my_task.py       copies this file and its rows
    post-train tasks try my_task.py       plays a few samples, without a model
    post-train tasks check my_task.py     says what would stop learning
    post-train rl --task my_task.py --from my-sft

Change three pieces: the samples, the environment, the reward.
"""

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
from orchestrator.tasks.message import assistant, user
from orchestrator.tasks.policies import speaking

ROWS = Path(__file__).with_suffix(".jsonl")


# 1. Samples: what one episode is about. Anything with a length and numbered entries will do.
def samples(data: str) -> tuple[list[Sample], list[Sample]]:
    """Training and validation rows; a tenth of the questions is never trained on."""
    return split(read_rows(data, "question", "answer"), share=0.1, key="question")


# 2. The environment: what the model sees first, and what it is told after each message of its own.
class Qa(Environment):
    """One user message; over after one reply. For more turns give messages back and leave `done` out."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    async def init(self) -> Opening:
        return Opening([user(self._sample.data["question"])])

    async def step(self, message: Message) -> Reply:
        return Reply(done=True)


# 3. The reward: episode -> number. List several below, each with its weight.
async def exact(episode: Episode) -> float:
    """1 if the reply is the answer, whatever the case and the spaces."""
    return float(_plain(episode.answer) == _plain(episode.sample.data["answer"]))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def solved(sample: Sample) -> Policy:
    """A policy that knows the answer: `try` and `check` compare what it earns with what nonsense earns."""
    return speaking(assistant(sample.data["answer"]))


def task(*, data: str = str(ROWS), max_tokens: int = 64) -> Task:
    """The parameters are the task's options: `--task-option data=rows.jsonl`."""
    train, validation = samples(data)
    return Task(
        name="qa",
        train=train,
        validation=validation,
        environment=Qa,
        rewards=[Reward("exact", exact)],
        limits=Limits(max_turns=1, max_tokens=max_tokens, context=max_tokens + 256),
        reference=solved,
    )
