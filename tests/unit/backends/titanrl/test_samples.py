"""Recorded episodes as pages: what is shown, what comes first, and what a half-written file does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backends.titanrl.samples import GROUPS, Record, page
from backends.titanrl.worker_samples import Samples


def record(group: int, reward: float | None, answer: str = "4", **more: Any) -> Record:
    """A line as TitanRL 0.3.0 writes it."""
    turn = {
        "prompt_messages": [{"role": "user", "content": "2+2?"}],
        "completion_message": {"role": "assistant", "content": answer},
        "env_messages": [],
    }
    parts = {"exact": reward}
    made = {"is_validation": False, "group_id": group, "status": "completed", "reward": reward, "advantage": 0.5}
    return made | {"reward_breakdown": parts, "turns": [turn]} | more


@pytest.fixture
def samples(tmp_path: Path) -> Samples:
    """Pages of a file that isn't there yet."""
    return Samples(tmp_path / "recorded.jsonl", tmp_path / "samples")


def add(folder: Path, *records: Record, end: str = "\n") -> None:
    with (folder / "recorded.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, records)) + end)


def test_a_page_has_numbers_and_conversations() -> None:
    numbers = {"reward": 0.25, "rollout_reward/component/exact/mean": 0.5, "perf/tokens": 9, "entropy": "none"}
    text = page(7, "training", numbers, [record(1, 1.0), record(1, 0.0, "5\n6", status="truncated_length")])
    assert text.startswith("# Step 7, training\n\n- reward: 0.25\n- reward 'exact': 0.5\n\n")
    assert "Recorded: 2 episodes (1 completed, 1 truncated_length)." in text
    assert "## Reward 0 (exact 0): truncated_length, advantage 0.5" in text
    assert "**user**\n\n    2+2?\n\n**assistant**\n\n    5\n    6\n" in text
    assert "perf" not in text


def test_a_validation_has_the_same_numbers_under_its_own_names() -> None:
    numbers = {"validation/reward": 0.5, "validation/truncation_rate/mean": 0.25, "validation/num_turns/mean": 1.0}
    text = page(0, "validation", numbers, [])
    assert "- reward: 0.5\n- share that was cut off: 0.25\n- turns: 1\n" in text


def test_groups_that_differ_within_come_first_and_not_all_are_shown() -> None:
    equal = [record(n, 1.0, f"equal {n}") for n in range(GROUPS) for _ in range(2)]
    text = page(1, "training", {}, [*equal, record(99, 0.0, "bad"), record(99, 1.0, "good")])
    assert text.index("bad") < text.index("good") < text.index("equal 0")
    assert f"equal {GROUPS - 1}" not in text


def test_the_last_turn_tells_the_whole_conversation() -> None:
    call = {"type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    asked = {"role": "user", "content": "count"}
    first = {"role": "assistant", "content": "", "tool_calls": [call]}
    given = {"role": "tool", "content": "a.csv"}
    turns = [
        {"prompt_messages": [asked], "completion_message": first, "env_messages": [given]},
        {
            "prompt_messages": [asked, first, given],
            "completion_message": {"role": "assistant", "reasoning_content": "one file", "content": "1"},
            "env_messages": [],
        },
    ]
    text = page(1, "training", {}, [record(1, None, turns=turns, reward_breakdown=None)])
    assert text.count("count") == 1
    assert '-> bash {"command": "ls"}' in text
    assert "    (thinks) one file\n    1\n" in text
    assert "Reward nan" in text


def test_each_page_takes_what_came_since_the_one_before(tmp_path: Path, samples: Samples) -> None:
    samples.write(0, {}, validation=True)
    assert not (tmp_path / "samples").exists()
    add(tmp_path, record(1, 0.0, "early"), record(-1, 1.0, "checked", is_validation=True))
    add(tmp_path, record(2, 0.0, "late"), end="")
    samples.write(1, {}, validation=False)
    add(tmp_path, end="\n")
    samples.write(2, {}, validation=False)
    samples.write(2, {}, validation=True)
    pages = {path.name: path.read_text() for path in (tmp_path / "samples").iterdir()}
    assert sorted(pages) == ["step-000001.md", "step-000002.md", "validation-000002.md"]
    assert "early" in pages["step-000001.md"]
    assert "late" not in pages["step-000001.md"]
    assert "late" in pages["step-000002.md"]
    assert "early" not in pages["step-000002.md"]
    assert "checked" in pages["validation-000002.md"]


def test_a_resumed_run_leaves_what_was_there_alone(tmp_path: Path) -> None:
    add(tmp_path, record(1, 0.0, "before"))
    samples = Samples(tmp_path / "recorded.jsonl", tmp_path / "samples")
    add(tmp_path, record(2, 0.0, "after"))
    samples.write(5, {}, validation=False)
    text = (tmp_path / "samples" / "step-000005.md").read_text()
    assert "after" in text
    assert "before" not in text
