"""Reward functions that are wrong stop the run by name; one that is right is left alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends.trl import worker_reward
from backends.trl.worker_reward import Rewards, judged, load
from orchestrator.events import EventReader, EventWriter
from orchestrator.harness import WorkError


@pytest.fixture(autouse=True)
def no_traces() -> Iterator[None]:
    """Loading a file puts its folder and module where Python finds them."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(folder: Path, body: str) -> str:
    file = folder / "reward.py"
    file.write_text(body, encoding="utf-8")
    return f"{file}:score"


def call(folder: Path, body: str, completions: int = 2, events: EventWriter | None = None) -> list[float]:
    rewards = Rewards(
        [write(folder, f"def score(completions, answer, **_):\n    {body}\n")], events or EventWriter(None)
    )
    texts = [f"text {i}" for i in range(completions)]
    result: list[float] = rewards.functions[0](
        prompts=["p"] * completions, completions=texts, answer=["a"] * completions
    )
    return result


def test_a_function_that_spoils_what_it_was_given_spoils_only_its_own(tmp_path: Path) -> None:
    body = "completions[0][0]['content'] = ''; completions.clear(); answer.clear(); return [1.0, 2.0]"
    rewards = Rewards([write(tmp_path, f"def score(completions, answer, **_):\n    {body}\n")], EventWriter(None))
    completions, answer = [[{"role": "assistant", "content": "a"}] for _ in range(2)], ["a", "b"]
    assert rewards.functions[0](prompts=["p"] * 2, completions=completions, answer=answer) == [1.0, 2.0]
    assert completions == [[{"role": "assistant", "content": "a"}]] * 2
    assert answer == ["a", "b"]


def test_a_right_one(tmp_path: Path) -> None:
    assert call(tmp_path, "return [len(c) for c in completions]") == [6.0, 6.0]


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ("return [1.0]", "reward.length", "1 values for 2"),
        ("return 1.0", "reward.length", "float for 2"),
        ("return [1.0, None]", "reward.value", "None for completion 1"),
        ("return [float('nan'), 1.0]", "reward.value", "nan for completion 0"),
        ("return [float('inf'), 1.0]", "reward.value", "inf"),
        ("return ['1.0', 1.0]", "reward.value", "'1.0' for completion 0"),
        ("return [[1.0], 1.0]", "reward.value", "[1.0]"),
        ("return answer['x']", "reward.raised", "TypeError"),
        ("import sys; sys.exit(0)", "reward.raised", "SystemExit"),
    ],
)
def test_a_wrong_one(tmp_path: Path, body: str, code: str, told: str) -> None:
    with pytest.raises(WorkError) as caught:
        call(tmp_path, body)
    assert caught.value.code == code
    assert told in caught.value.message
    assert f"{tmp_path / 'reward.py'}:score" in caught.value.message


def test_an_exception_is_shown_with_the_users_line(tmp_path: Path) -> None:
    with pytest.raises(WorkError, match=rf"at {tmp_path / 'reward.py'}:2\)"):
        call(tmp_path, "import json; json.loads('{')")


def test_a_missing_argument_is_explained(tmp_path: Path) -> None:
    rewards = Rewards([write(tmp_path, "def score(completions):\n    return [0.0]\n")], EventWriter(None))
    with pytest.raises(WorkError, match="unexpected keyword") as caught:
        rewards.functions[0](prompts=["p"], completions=["c"])
    assert "prompts, completions, **columns" in str(caught.value.fix)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("def other(completions): ...", "reward.function"),
        ("import nothing_of_that_name\n", "reward.import"),
        ("def score(:\n", "reward.import"),
        ("async def score(completions, **_): ...", "reward.async"),
    ],
)
def test_files_that_can_t_be_used(tmp_path: Path, body: str, code: str) -> None:
    with pytest.raises(WorkError) as caught:
        load(write(tmp_path, body))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("/nowhere/r.py:score", "reward.file"),
        ("no_module_of_that_name:score", "reward.import"),
        ("score", "reward.reference"),
    ],
)
def test_references(reference: str, code: str) -> None:
    with pytest.raises(WorkError) as caught:
        load(reference)
    assert caught.value.code == code


def test_modules_and_neighbours(tmp_path: Path) -> None:
    assert load("math:fsum")([1.0]) == 1.0
    (tmp_path / "neighbour_of_reward.py").write_text("VALUE = 3.0\n", encoding="utf-8")
    body = "from neighbour_of_reward import VALUE\ndef score(completions, **_):\n    return [VALUE]\n"
    assert load(write(tmp_path, body))([0]) == [3.0]


def test_tensors_count_as_lists() -> None:
    class Tensor:
        def tolist(self) -> list[Any]:
            return [1, True]

    assert judged(Tensor(), 2, "r") == [1.0, 1.0]


def test_the_latest_batch_is_kept_with_all_rewards(tmp_path: Path) -> None:
    body = "def score(completions, **_):\n    return [1.0 for _ in completions]\n"
    body += "def brief(completions, **_):\n    return [0]\n"
    score = write(tmp_path, body)
    rewards = Rewards([score, score.replace(":score", ":brief")], EventWriter(None))
    rewards.functions[0](prompts=["p", "p"], completions=["a", "b"])
    for function in rewards.functions:
        function(prompts=["p"], completions=["c"])
    assert rewards.latest == [{"prompt": "p", "completion": "c", "rewards": {"score": 1.0, "brief": 0.0}}]


def test_a_slow_one_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_reward, "SLOW", 0.01)
    events = tmp_path / "events.jsonl"
    call(tmp_path, "import time; time.sleep(0.2); return [0, 0]", events=EventWriter(events))
    assert [event["code"] for event in EventReader(events).new()] == ["reward.slow"]
