"""A task as the trainer uses it, as far as it needs no engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.trl.worker_file import Arguments
from backends.trl.worker_task import Played
from orchestrator.events import EventReader, EventWriter
from orchestrator.harness import WorkError

CONFIG = {
    "max_completion_length": 64,
    "per_device_train_batch_size": 8,
    "steps_per_generation": 2,
    "num_generations": 4,
}


def played(name: str = "alphabet_sort", options: dict[str, str] | None = None, **more: Any) -> Played:
    data, config = {"context": 4096, **more.pop("data", {})}, CONFIG | more
    task = {"name": name, "options": options or {}}
    events = EventWriter(Path("events.jsonl"))
    return Played(Arguments("GRPOTrainer", config=config, model={}, data=data, output={}, task=task), events)


def test_rows_name_samples_of_their_split(work: Path) -> None:
    task = played()
    assert [row["prompt"][0]["content"] for row in task.rows("train", 3)] == ["train/0", "train/1", "train/2"]
    assert len(task.rows("eval", None)) == 64
    assert task._sample(task.rows("eval", 1)[0]["prompt"]).id == "names-10000"


def test_weights_make_the_sum_the_weighted_mean(work: Path) -> None:
    assert played().weights == [1.0]


def test_rewards_hand_over_what_was_earned(work: Path) -> None:
    told: dict[str, float] = {}
    (order,) = played().functions
    ending = [{"turns": 3, "truncated": 0.0}, {"turns": 1, "truncated": 1.0}]
    given = {"log_metric": told.__setitem__, "prompts": [], "completions": []}
    assert order(earned=[{"order": 0.5}, {"order": 1.0}], ending=ending, **given) == [0.5, 1.0]
    assert told == {"task/turns": 2.0, "task/truncated": 0.5}


def test_limits_below_the_tasks_own_are_told(work: Path) -> None:
    played(data={"context": 128})
    warnings = [event for event in EventReader(work / "events.jsonl").new() if event["type"] == "warning"]
    assert [event["code"] for event in warnings] == ["task.limits", "task.limits"]


def test_too_few_samples_for_one_generation_are_refused(work: Path) -> None:
    with pytest.raises(WorkError, match="has 3 training samples, and one generation takes 4"):
        played(options={"train": "3"})
    with pytest.raises(WorkError, match="has 2 training samples"):
        played(data={"max_rows": 2})


def test_a_task_that_can_not_be_made_is_told_with_every_detail(work: Path) -> None:
    with pytest.raises(WorkError, match="did you mean 'turns'") as raised:
        played(options={"turn": "1"})
    assert raised.value.code == "task.failed"
