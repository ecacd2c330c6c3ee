"""TRL's SFT flows into TitanRL's reinforcement learning and on into eval: the shipped recipe, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import statistics
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start

pytestmark = pytest.mark.integration
VARIABLES = ("POST_TRAIN_TRL_PYTHON", "POST_TRAIN_TITANRL_PYTHON")


@pytest.fixture(autouse=True)
def engines() -> None:
    """Both engines' environments are there, where the command line finds them by their locks."""
    for variable in VARIABLES:
        if not os.environ.get(variable):
            pytest.skip(f"{variable} names no Python with the engine")


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


def test_reward_and_answers_rise_and_a_killed_run_goes_on(start: Start, runs: Path) -> None:
    """One test: each start of the engine takes half a minute, and the second run needs the first one's model."""
    made = finished(start, "run", "titanrl_tiny")
    assert [run["spec"]["stage"] for run in made] == ["sft", "merge", "grpo", "eval"]
    assert {run["state"] for run in made} == {"SUCCEEDED"}
    trained = made[2]
    rewards = [event["metrics"]["reward"] for event in steps(runs / trained["id"] / "attempts" / "001")]
    assert len(rewards) == trained["metrics"]["steps"]
    assert statistics.mean(rewards[-5:]) > statistics.mean(rewards[:3]) + 0.1
    assert [handoff["place"] for handoff in trained["handoffs"]] == ["the model to start from"]
    scores = [made[-1]["metrics"][f"{label}.score"] for label in ("base", "sft", "grpo")]
    assert scores[0] + 0.1 < scores[1] < scores[2] - 0.1

    cut = killed(start, "rl", "--recipe", "titanrl_tiny", "--from", made[0]["id"], "--max-steps", "6")
    (resumed,) = finished(start, "rl", "--resume", "cut")
    assert [attempt["resumed"] for attempt in resumed["attempts"]] == [False, True]
    taken = [event["step"] for event in steps(cut / "attempts" / "002")]
    assert 3 <= taken[0] <= 6
    assert taken == list(range(taken[0], 7))
    pages = {path.name for path in (cut / "samples").iterdir()}
    assert pages >= {f"step-{step:06d}.md" for step in range(1, 7)}


def steps(attempt: Path) -> list[dict[str, Any]]:
    """What an attempt told of its optimizer steps."""
    lines = (attempt / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [event for event in map(json.loads, lines) if event["type"] == "step"]
    return [event for event in events if "reward" in event["metrics"]]


def killed(start: Start, *words: str) -> Path:
    """The folder of a run whose owner died with a whole checkpoint behind it."""
    process = start(*words, "--output", "cut", "--set", "training.save_steps=2")
    folder, deadline = Path("cut"), time.monotonic() + 300
    while not (folder / "titanrl/checkpoint/step-2/.metadata").is_file() and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return folder
