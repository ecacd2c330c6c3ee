"""One recipe, two engines: Axolotl's SFT flows into TRL's GRPO, merge and eval; both teach the same tokens."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start

from .test_quickstart import finished

pytestmark = pytest.mark.integration
VARIABLES = ("POST_TRAIN_TRL_PYTHON", "POST_TRAIN_AXOLOTL_PYTHON")


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runs folder, and a folder to be in; the engines' environments are those of the cache."""
    if not all(os.environ.get(name) for name in VARIABLES):
        pytest.skip(f"{' and '.join(VARIABLES)} name no Pythons with the engines")
    monkeypatch.setenv("POST_TRAIN_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_an_axolotl_run_flows_into_rl_merge_and_eval(start: Start) -> None:
    made = finished(start, "run", "quickstart", "--set", "sft.backend=axolotl")
    assert [(run["spec"]["stage"], run["spec"]["backend"]) for run in made] == [
        ("sft", "axolotl"),
        ("merge", "hf"),
        ("grpo", "trl"),
        ("merge", "hf"),
        ("eval", "hf"),
    ]
    assert {run["state"] for run in made} == {"SUCCEEDED"}
    scores = [made[-1]["metrics"][f"{label}.score"] for label in ("base", "sft", "grpo")]
    assert scores[0] + 0.1 < scores[1] < scores[2] - 0.1


def test_both_engines_teach_the_same_tokens(start: Start, runs: Path) -> None:
    shown = []
    for backend in ("axolotl", "trl"):
        (run,) = finished(start, "sft", "--recipe", "quickstart", "--backend", backend, "--smoke")
        assert run["smoke"]["steps"] == 2
        assert Path(run["smoke"]["checkpoint"]).name == "checkpoint-2"
        shown.append(re.sub(r"\d+", "N", sample(runs / run["id"])["marked"]))
    assert shown[0] == shown[1], "rows in another order, but the same template and the same loss"


def sample(folder: Path) -> dict[str, Any]:
    """The first row as the engine saw it."""
    lines = (folder / "attempts" / "001" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return next(event for event in events if event["type"] == "sample")
