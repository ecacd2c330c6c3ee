"""One task file through SFT, GRPO and eval: what GRPO was rewarded for is what base, SFT and RL model are judged by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Start, Write

from .test_quickstart import finished, python, runs

__all__ = ["python", "runs"]
pytestmark = pytest.mark.integration
RECIPES = ROOT / "recipes"
TASK, HELD_OUT = RECIPES / "titanrl_tiny" / "sums.py", RECIPES / "quickstart" / "data" / "held_out.jsonl"
CHAIN = {
    "name": "sums",
    "description": "the quickstart's chain on a task",
    "defaults": {
        "hardware": {"threads": 1},
        "lora": {"r": 16, "alpha": 32, "dropout": 0.0, "target_modules": "all-linear"},
        "training": {"max_length": 64, "gradient_accumulation": 1, "precision": "fp32", "seed": 0},
    },
    "stages": [
        {
            "stage": "sft",
            "model": str(RECIPES / "quickstart" / "model"),
            "data": str(RECIPES / "quickstart" / "data" / "sft.jsonl"),
            "training": {"learning_rate": 3.3e-4, "max_steps": 40, "batch_size": 64},
        },
        {
            "stage": "grpo",
            "task": str(TASK),
            "training": {"learning_rate": 1e-3, "max_steps": 15, "batch_size": 128},
            "rl": {"num_generations": 8, "max_completion_length": 6, "beta": 0.0},
        },
        {
            "stage": "eval",
            "task": str(TASK),
            "eval": {"batch_size": 256, "gates": ["accuracy>=sft+0.1"]},
        },
    ],
}
LABELS = ["base", "sft", "grpo"]


def test_what_is_trained_on_is_what_is_judged(start: Start, write: Write, runs: Path, python: str) -> None:
    made = finished(start, "run", str(write("chain.yaml", CHAIN)), "--env", python)
    assert [run["spec"]["stage"] for run in made] == ["sft", "merge", "grpo", "eval"]
    judged = made[-1]
    assert judged["spec"]["eval"]["metric"] == "task"
    models = judged["evaluation"]["models"]
    assert [model["label"] for model in models] == LABELS
    scores = [model["score"] for model in models]
    assert scores[0] + 0.1 < scores[1] < scores[2] - 0.1
    assert models[2]["differences"][0]["beyond_noise"]
    assert set(models[2]["rewards"]) == {"exact", "number", "solved"}
    assert [gate["passed"] for gate in judged["evaluation"]["gates"]] == [True]
    report = runs / judged["id"] / "artifacts" / "report"
    assert {page.stem for page in (report / "conversations").iterdir()} == set(LABELS)
    assert "solved" in (runs / judged["id"] / "report.html").read_text(encoding="utf-8")

    words = ("--data", str(HELD_OUT), "--metric", "exact", "--set", "eval.max_new_tokens=6", "--env", python)
    (asked,) = finished(start, "eval", made[2]["id"], *words, "--set", "eval.batch_size=256")
    played, answered = answers(report), answers(runs / asked["id"] / "artifacts" / "report")
    assert played == answered, "the same prompts, and the same answers, whichever way they were asked"
    exact = [model["rewards"]["exact"]["score"] for model in models]
    assert exact == [model["score"] for model in asked["evaluation"]["models"]]


def answers(report: Path) -> dict[str, Any]:
    """Prompt -> what each model answered."""
    rows = map(json.loads, (report / "items.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["prompt"][0]["content"]: [row["models"][label]["answer"] for label in LABELS] for row in rows}
