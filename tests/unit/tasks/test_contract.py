"""The contract that every engine builds on: samples, episodes, rewards."""

from __future__ import annotations

import asyncio
import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import DataError, TaskError
from orchestrator.tasks import (
    Environment,
    Episode,
    Generated,
    Limits,
    Message,
    Opening,
    Order,
    OutOfTokens,
    Reply,
    Reward,
    Sample,
    Task,
    judge,
    play,
    read_rows,
    split,
)
from orchestrator.tasks.message import answer, assistant, call, calls, text, user
from orchestrator.tasks.overlap import require_apart
from orchestrator.tasks.policies import speaking

ROOT = Path(__file__).parents[3]


class Guess(Environment):
    """Over when the number was said; counts what is open and what was said."""

    open = 0

    def __init__(self, sample: Sample) -> None:
        self.number = sample.data["number"]

    async def init(self) -> Opening:
        Guess.open += 1
        return Opening([user("Guess a number.")])

    async def step(self, message: Message) -> Reply:
        said = int(text(message))
        near = {"near": 1.0 - abs(said - self.number) / 10}
        return Reply(done=True, rewards=near) if said == self.number else Reply([user("No.")], rewards=near)

    async def close(self) -> None:
        Guess.open -= 1


async def found(episode: Episode) -> float:
    return float(not episode.truncated)


async def nearness(episode: Episode) -> float:
    return episode.latest("near")


def numbered(number: int) -> Sample:
    return Sample(f"n{number}", {"number": number})


def guessing(**changes: Any) -> Task:
    task = Task(
        name="guess",
        train=Generated(numbered, range(8)),
        validation=Generated(numbered, range(8, 10)),
        environment=Guess,
        rewards=[Reward("found", found, 3.0), Reward("near", nearness)],
        limits=Limits(max_turns=3, max_tokens=8, context=64),
    )
    return dataclasses.replace(task, **changes)


def played(task: Task, *said: str) -> Episode:
    return asyncio.run(play(task, task.train[5], speaking(*(assistant(one) for one in said))))


def test_an_episode_holds_the_conversation_and_what_each_turn_earned() -> None:
    episode = played(guessing(), "3", "5")
    assert [m["content"] for m in episode.messages] == ["Guess a number.", "3", "No.", "5"]
    assert (episode.end, episode.turns, episode.answer) == ("done", 2, "5")
    assert episode.total("near") == pytest.approx(1.8)
    assert episode.latest("near") == 1.0
    scores = asyncio.run(judge(guessing().rewards, episode))
    assert scores.parts == {"found": 1.0, "near": 1.0}


def test_the_total_is_the_weighted_mean_and_turns_are_counted() -> None:
    episode = played(guessing(), "3")
    assert (episode.end, episode.turns) == ("turns", 3)
    assert asyncio.run(judge(guessing().rewards, episode)).total == pytest.approx(0.8 / 4)


@pytest.mark.parametrize("last", [None, assistant("5")])
def test_a_policy_out_of_tokens_ends_the_episode_unjudged_by_the_environment(last: Message | None) -> None:
    async def policy(*_: Any) -> Message:
        raise OutOfTokens(last)

    episode = asyncio.run(play(guessing(), numbered(5), policy))
    assert (episode.end, episode.turns, episode.rewards) == ("tokens", int(last is not None), ())
    assert Guess.open == 0


def test_the_environments_mistake_is_told_with_its_line_and_it_is_closed() -> None:
    with pytest.raises(TaskError, match="ValueError") as raised:
        played(guessing(), "no number")
    assert str(raised.value.where).startswith(__file__)
    assert Guess.open == 0


def test_the_policys_mistake_is_its_own() -> None:
    async def policy(*_: Any) -> Message:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(play(guessing(), numbered(5), policy))


@pytest.mark.parametrize("value", [float("nan"), "1", None])
def test_a_reward_that_is_no_number_is_refused_with_its_line(value: Any) -> None:
    async def wrong(episode: Episode) -> float:
        return value  # type: ignore[no-any-return]

    with pytest.raises(TaskError, match="for sample 'n5'") as raised:
        asyncio.run(Reward("wrong", wrong)(played(guessing(), "5")))
    assert str(raised.value.where).startswith(__file__)


def test_a_reward_that_raises_is_told_with_its_line() -> None:
    async def wrong(episode: Episode) -> float:
        raise KeyError("k")

    with pytest.raises(TaskError, match="'wrong' raised KeyError") as raised:
        asyncio.run(Reward("wrong", wrong)(played(guessing(), "5")))
    assert str(raised.value.where).startswith(__file__)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rewards": []}, "no reward"),
        ({"rewards": [Reward("a", found), Reward("a", found)]}, "two rewards"),
        ({"rewards": [Reward("a", found, 0.0)]}, "above 0"),
        ({"rewards": [Reward("a", lambda episode: 1.0)]}, "not `async def`"),  # type: ignore[arg-type, return-value]
        ({"train": []}, "`train` holds no samples"),
        ({"limits": Limits(max_turns=0)}, "at least 1"),
        ({"limits": Limits(max_tokens=100, context=100)}, "no room for a prompt"),
    ],
)
def test_a_task_that_could_not_work_is_refused_when_it_is_made(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(TaskError, match=told):
        guessing(**changes)


def test_order_is_seeded_shuffled_in_each_pass_and_open_at_any_place() -> None:
    samples = guessing().train
    order = Order(samples, seed=1)
    whole = [order[n].id for n in range(24)]
    assert [sorted(whole[n : n + 8]) for n in (0, 8, 16)] == [[s.id for s in samples]] * 3
    assert whole[:8] != whole[8:16]
    later = Order(samples, seed=1).stream(start=11)
    assert [next(later).id for _ in range(13)] == whole[11:]
    assert whole != [Order(samples, seed=2)[n].id for n in range(24)]
    assert [Order(samples, 1, shuffle=False)[n].id for n in (0, 9)] == ["n0", "n1"]


@pytest.mark.parametrize("clash", [Sample("n3", {"number": 99}), Sample("other", {"number": 3})])
def test_splits_that_share_an_id_or_a_content_are_refused(clash: Sample) -> None:
    require_apart(guessing())
    with pytest.raises(TaskError, match="1 validation samples"):
        require_apart(guessing(validation=[numbered(9), clash]))


def test_samples_must_be_json() -> None:
    with pytest.raises(TaskError, match="not JSON"):
        require_apart(guessing(train=[Sample("a", {"set": {1}})]))


def test_rows_are_read_with_their_lines_and_refused_with_them(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"question": "a"}\n\n{"question": "b"}\n')
    assert [s.id for s in read_rows(file, "question")] == ["rows.jsonl:1", "rows.jsonl:3"]
    file.write_text('{"question": "a"}\n{"question": " "}\n')
    with pytest.raises(DataError) as raised:
        read_rows(file, "question")
    assert raised.value.where == f"{file}:2"


def test_equal_rows_land_on_one_side_whatever_their_place() -> None:
    samples = [Sample(f"s{n}", {"q": n % 50, "other": n}) for n in range(400)]
    train, held_out = split(samples, share=0.3, key="q")
    assert len(train) + len(held_out) == 400
    assert 40 < len(held_out) < 200
    assert not {s.data["q"] for s in train} & {s.data["q"] for s in held_out}


def test_tool_calls_are_read_whatever_was_written() -> None:
    good = calls(assistant("", call("bash", "1", command="ls")))
    assert (good[0].name, good[0].arguments, good[0].fault) == ("bash", {"command": "ls"}, None)
    assert answer(good[0], "out") == {"role": "tool", "name": "bash", "content": "out", "tool_call_id": "1"}
    for given, told in (("{", "not JSON"), ("[1]", "object, not list"), (None, "NoneType")):
        bad = calls({"role": "assistant", "tool_calls": [{"function": {"name": "x", "arguments": given}}, 7]})
        assert len(bad) == 1
        assert told in str(bad[0].fault)
    assert calls({"role": "assistant", "tool_calls": "x"}) == calls(assistant("text")) == []
    assert text({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}) == "ab"


def test_tasks_import_where_nothing_is_installed() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from orchestrator.tasks import load; print(load('qa').name)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("qa\n", "")
