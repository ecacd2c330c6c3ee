"""The whole product as a user has it: the shipped quickstart through the command line and the real engine."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start

pytestmark = pytest.mark.integration
VARIABLE = "POST_TRAIN_TRL_PYTHON"


@pytest.fixture
def python() -> str:
    """Python of the engine's environment."""
    found = os.environ.get(VARIABLE)
    if not found:
        pytest.skip(f"{VARIABLE} names no Python with TRL")
    return found


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runs folder, and a folder to be in."""
    monkeypatch.setenv("POST_TRAIN_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def finished(start: Start, *words: str) -> Any:
    """Run to a good end and give what --json printed."""
    out, err = (process := start(*words, "--json")).communicate(timeout=900)
    assert process.returncode == 0, err
    return json.loads(out)


def test_the_chain_learns_and_is_not_run_twice(start: Start, runs: Path, python: str) -> None:
    made = finished(start, "run", "quickstart", "--env", python)
    assert [run["spec"]["stage"] for run in made] == ["sft", "merge", "grpo", "merge", "eval"]
    assert {run["state"] for run in made} == {"SUCCEEDED"}
    for child, parent in zip(made[1:], made, strict=False):
        assert [p["run"] for p in child["parents"]] == [parent["id"]]
    scores = [made[-1]["metrics"][f"{label}.score"] for label in ("base", "sft", "grpo")]
    assert scores[0] + 0.1 < scores[1] < scores[2] - 0.1
    assert (runs / made[-1]["id"] / "report.html").is_file()
    again = finished(start, "run", "quickstart", "--env", python, "--reuse")
    assert [run["id"] for run in again] == [run["id"] for run in made]


def test_two_steps_of_the_chain_prove_that_it_fits(start: Start, runs: Path, python: str) -> None:
    """SFT of two steps teaches too little for GRPO to see a reward: the chain goes on all the same, to its end."""
    made = finished(start, "run", "quickstart", "--smoke", "--env", python)
    assert [run["spec"]["stage"] for run in made] == ["sft", "merge", "grpo", "merge", "eval"]
    for run in made:
        assert run["id"].startswith("quickstart-smoke-")
        if run["spec"]["stage"] in ("sft", "grpo"):
            proved = run["smoke"]
            assert proved["steps"] == 2
            assert Path(proved["checkpoint"]).name == "checkpoint-2"
            assert [p.name for p in Path(proved["checkpoint"]).parent.glob("checkpoint-*")] == ["checkpoint-2"]
            assert (proved["seconds"] > 0, proved["peak_memory"] > 100 * 2**20) == (True, True)


def test_a_run_whose_owner_was_killed_ends_as_if_nothing_had_happened(start: Start, runs: Path, python: str) -> None:
    words = ("sft", "--recipe", "quickstart", "--env", python, "--max-steps", "12", "--set", "training.save_steps=4")
    (whole,) = finished(start, *words, "--output", "whole")
    process = start(*words, "--output", "cut")
    deadline = time.monotonic() + 300
    while not Path("cut/checkpoints/checkpoint-4/trainer_state.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (cut,) = finished(start, "sft", "--resume", "cut")
    assert [attempt["resumed"] for attempt in cut["attempts"]] == [False, True]
    assert digest(cut) == digest(whole)
    assert cut["fingerprint"] == whole["fingerprint"]


def digest(run: dict[str, Any]) -> str:
    """sha256 of the adapter's weights."""
    (adapter,) = run["artifacts"]
    (weights,) = (file for file in adapter["files"] if file["path"] == "adapter_model.safetensors")
    return str(weights["sha256"])
