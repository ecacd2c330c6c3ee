"""Mathematics with one right answer in \\boxed{...}, graded 0 or 1; AIME-style problems for validation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.errors import DataError
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
from orchestrator.tasks.maths.boxed import last_boxed
from orchestrator.tasks.maths.verify import Verify
from orchestrator.tasks.maths.verify import verifier as maths_verifier
from orchestrator.tasks.message import assistant, user
from orchestrator.tasks.policies import speaking

ROWS = Path(__file__).resolve().parents[3] / "recipes" / "tasks" / "dapo_math"
ASK = (
    "Solve the problem step by step. The last line of your reply must be `Answer: \\boxed{...}` with nothing but the "
    "answer in the box.\n\n"
)
_PROBLEM, _ANSWER = ("problem", "question", "prompt"), ("answer", "solution", "ground_truth")


class Maths(Environment):
    """One problem, one reply."""

    def __init__(self, sample: Sample) -> None:
        self._problem = sample.data["problem"]

    async def init(self) -> Opening:
        return Opening([user(ASK + self._problem)])

    async def step(self, message: Message) -> Reply:
        return Reply(done=True)


def samples(path: str | Path) -> list[Sample]:
    """Rows of DAPO-Math or AIME: the problem and the answer under any of their usual names.

    Raises:
        DataError: a row without one of them.
    """
    return [Sample(row.id, _known(row, Path(path))) for row in read_rows(path)]


def _known(row: Sample, path: Path) -> dict[str, str]:
    model = row.data.get("reward_model")
    data = {**row.data, **(model if isinstance(model, Mapping) else {})}
    problem, answer = _first(data, _PROBLEM), _first(data, _ANSWER)
    if problem is None or answer is None:
        lacking = "/".join(_PROBLEM if problem is None else _ANSWER)
        message = f"no {lacking} in a row with {', '.join(sorted(row.data))}"
        raise DataError(message, where=f"{path}:{row.id.rpartition(':')[2]}", fix="rename the key")
    return {"problem": problem, "answer": answer}


def _first(data: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    value = next((data[name] for name in names if data.get(name) not in (None, "")), None)
    if isinstance(value, list):  # a conversation: the problem is its last message
        value = value[-1].get("content") if value and isinstance(value[-1], Mapping) else None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def correct(verify: Verify) -> Reward:
    """1 when the last box holds the answer."""

    async def score(episode: Episode) -> float:
        given = last_boxed(episode.answer)
        return float(given is not None and verify(episode.sample.data["answer"], given))

    return Reward("correct", score)


def solved(sample: Sample) -> Policy:
    """Knows the answer."""
    return speaking(assistant(f"Answer: \\boxed{{{sample.data['answer']}}}"))


def task(
    *,
    data: str = str(ROWS / "train.jsonl"),
    validation: str = str(ROWS / "validation.jsonl"),
    verifier: str = "math-verify",
    max_tokens: int = 4096,
) -> Task:
    """Options: rows of DAPO-Math (17k rows in the original) and AIME; `verifier` is math-verify or numbers."""
    return Task(
        name="dapo_math",
        train=samples(data),
        validation=[Sample(f"validation/{s.id}", s.data) for s in samples(validation)],
        environment=Maths,
        rewards=[correct(maths_verifier(verifier))],
        limits=Limits(max_turns=1, max_tokens=max_tokens, context=max_tokens + 1024),
        reference=solved,
    )
