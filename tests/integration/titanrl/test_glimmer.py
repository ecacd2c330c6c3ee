"""Muse Glimmer through TitanRL 0.3.0, which has no renderer for it: by ours, in TitanRL's own worker processes."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start

pytestmark = pytest.mark.integration
HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TEMPLATE = ROOT.parent / "shared/tok/muse_glimmer/chat_template.jinja"
CALL = """\
<atem:function_calls>
<atem:invoke name="weather.now">
<atem:parameter name="city">Ürümqi</atem:parameter>
<atem:parameter name="days">2</atem:parameter>
</atem:invoke>
</atem:function_calls>"""


def engine(script: str, *words: str) -> str:
    """What a script prints in TitanRL's environment."""
    python = os.environ.get("POST_TRAIN_TITANRL_PYTHON")
    if not python:
        pytest.skip("POST_TRAIN_TITANRL_PYTHON names no Python with TitanRL")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    argv = [python, "-W", "ignore", str(HERE / script), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True, env=env).stdout


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model with the published chat template."""
    if not TEMPLATE.is_file():
        pytest.skip("the published chat template is not here")
    folder = tmp_path_factory.mktemp("glimmer") / "model"
    engine("make_glimmer.py", str(TEMPLATE), str(folder))
    return folder


def test_the_renderer_of_a_worker(model: Path) -> None:
    found: dict[str, Any] = json.loads(engine("render_glimmer.py", str(model)).splitlines()[-1])
    assert found["different"] == []
    assert len(set(found["lengths"])) == 1
    first, last = f"Look it up.\n\nThen say it.<|eom|>{CALL}<|eot|>", "It's clear.<|eot|>"
    assert found["sampled"] == first + last
    assert found["content"] == "What's the weather in Ürümqi?" + first + '{"sky": "clear"}' + last
    assert found["roles"] == ["user", "assistant", "tool", "assistant"]
    assert found["bridged"]
    assert found["bridge_samples"] == 0
    assert set(found["bridge_owners"]) == {-1}
    assert found["cut"] == "<|eot|><|start|>user<|message|>?<|eot|><|start|>assistant"
    assert found["unnamed"] is None
    assert found["reasoning"] == "Look it up.\n\nThen say it."
    assert found["calls"] == [["weather.now", {"city": "Ürümqi", "days": 2}, "ok"]]
    assert found["played"] == {
        "opening": True,
        "next": True,
        "said": {
            "role": "assistant",
            "content": "",
            "reasoning_content": "Look it up.\n\nThen say it.",
            "tool_calls": [
                {"type": "function", "function": {"name": "weather.now", "arguments": {"city": "Ürümqi", "days": 2}}}
            ],
        },
    }
    assert found["stops"] == "<|eot|><|end_of_text|>"


def test_the_reward_rises(model: Path, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.environ.get("POST_TRAIN_TRL_PYTHON"):
        pytest.skip("POST_TRAIN_TRL_PYTHON names no Python with TRL")
    monkeypatch.setenv("POST_TRAIN_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    model.rename(tmp_path / "model")
    for name in ("glimmer.yaml", "digits.py"):
        shutil.copy(HERE / name, tmp_path)
    rows = [turns(f"Name one of {100 + n}.", [str(n % 10), "them", "and"][n % 3]) for n in range(400)]
    Path("sft.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    out, err = (process := start("run", "glimmer.yaml", "--json")).communicate(timeout=900)
    assert process.returncode == 0, err
    made = json.loads(out)
    assert {run["state"] for run in made} == {"SUCCEEDED"}
    trained = next(run for run in made if run["spec"]["stage"] == "grpo")
    lines = (tmp_path / "runs" / trained["id"] / "attempts/001/events.jsonl").read_text(encoding="utf-8").splitlines()
    rewards = [e["metrics"]["reward"] for e in map(json.loads, lines) if "reward" in e.get("metrics", {})]
    assert statistics.mean(rewards[-3:]) > statistics.mean(rewards[:3]) + 0.1
    assert [handoff["place"] for handoff in trained["handoffs"]] == ["the model to start from"]
    assert trained["metrics"]["tensors_kept"] > 0, "the vision tower, which a text-only flavor leaves out"


def turns(question: str, answer: str) -> dict[str, Any]:
    said = {"system": "Be brief.", "user": question, "assistant": answer}
    return {"messages": [{"role": role, "content": content} for role, content in said.items()]}
