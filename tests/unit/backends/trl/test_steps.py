"""Counting steps, generations and checkpoints."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from backends.trl.adapter import BACKEND
from backends.trl.steps import generation_every

from .conftest import MakeJob, MakeSpec


def config(make_spec: MakeSpec, make_job: MakeJob, stage: str, rows: int | None, **sections: Any) -> dict[str, Any]:
    native = BACKEND.materialize(make_spec(stage, **sections), make_job(rows=rows))
    read: dict[str, Any] = yaml.safe_load(native.files[0].content)["config"]
    return read


@pytest.mark.parametrize(
    ("rows", "training", "data", "expected"),
    [
        (1600, {"epochs": 1.0}, {}, 10),  # 100 steps of 16 rows
        (1000, {}, {}, 19),  # 63 steps an epoch, 189 in three
        (1000, {}, {"max_rows": 16}, 1),
        (1000, {"max_steps": 45}, {}, 5),
        (None, {"max_steps": 45}, {}, 5),
        (None, {}, {}, 0.1),
        (1000, {"packing": True}, {}, 0.1),
        (1000, {"save_steps": 7}, {}, 7),
    ],
)
def test_sft_saves_about_ten_times(
    make_spec: MakeSpec,
    make_job: MakeJob,
    rows: int | None,
    training: dict[str, Any],
    data: dict[str, Any],
    expected: float,
) -> None:
    written = config(make_spec, make_job, "sft", rows, training=training, data=data)
    assert (written["save_strategy"], written["save_steps"]) == ("steps", expected)


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ({}, ("steps", 38)),  # 2 prompts a generation: 500 generations of one step, 375 steps in 0.75 epochs
        ({"num_iterations": 4}, ("steps", 152)),  # 1500 steps, saved on a multiple of 4
        (
            {"steps_per_generation": 6},
            ("steps", 39),
        ),  # 3 prompts; 333 generations of 1.5 steps; saved on a multiple of 3
    ],
)
def test_grpo_saves_where_it_generates(
    make_spec: MakeSpec, make_job: MakeJob, native: dict[str, Any], expected: tuple[str, int]
) -> None:
    written = config(make_spec, make_job, "grpo", 1000, training={"epochs": 0.75}, native={"config": native})
    assert (written["save_strategy"], written["save_steps"]) == expected


def test_grpo_of_unknown_length_saves_at_an_epoch_when_it_generates_seldom(
    make_spec: MakeSpec, make_job: MakeJob
) -> None:
    written = config(make_spec, make_job, "grpo", None, native={"config": {"num_iterations": 2}})
    assert written["save_strategy"] == "epoch"


@pytest.mark.parametrize(
    ("accumulation", "per_generation", "iterations", "every"),
    [(4, 4, 1, 1), (4, 8, 1, 2), (2, 3, 1, 3), (4, 4, 3, 3), (4, 2, 1, 1)],
)
def test_generation_every(accumulation: int, per_generation: int, iterations: int, every: int) -> None:
    values = {
        "gradient_accumulation_steps": accumulation,
        "steps_per_generation": per_generation,
        "num_iterations": iterations,
    }
    assert generation_every(values) == every
