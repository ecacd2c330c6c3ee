"""Prepared data trains: sft, dpo and grpo on a real engine, and rows rendered as that engine's own library does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from data_prep.inputs import inputs
from data_prep.options import Options
from data_prep.prepare import prepare
from data_prep.splits import Shares
from tests.conftest import ROOT

pytestmark = pytest.mark.integration
MODEL = ROOT / "recipes/quickstart/model"
REWARD = """
def score(completions, answer, **_):
    assert all(text.isdigit() for text in answer)
    return [float(number % 3) for number, _ in enumerate(completions)]
"""
CALLS = json.dumps({"name": "add", "arguments": {"a": 1, "b": [2, {"c": "d"}]}})
TOOLS = json.dumps([{"name": "add", "description": "Adds.", "parameters": {"type": "dict", "properties": {}}}])


@pytest.fixture(scope="session")
def python() -> str:
    """Python of an environment with TRL."""
    found = os.environ.get("POST_TRAIN_TRL_PYTHON")
    if not found:
        pytest.skip("POST_TRAIN_TRL_PYTHON names no Python with TRL")
    return found


def sums(count: int) -> list[tuple[str, str]]:
    return [(f"{n}+{n % 7}=", str(n + n % 7)) for n in range(count)]


def made(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    """Rows, prepared."""
    folder.mkdir()
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    prepare(inputs([folder / "rows.jsonl"]), Options(shares=Shares(0.1), **options), folder / "set")
    return folder / "set"


def train(python: str, place: Path, words: list[str]) -> Any:
    """One run of two steps; its manifest."""
    argv = [sys.executable, "-m", "orchestrator", *words, "--env", python, "--model", str(MODEL), "--runs", str(place)]
    argv += ["--backend", "trl", "--max-steps", "2", "--set", "training.max_length=64", "--json"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(argv, env=env, cwd=place.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads(done.stdout)
    return run


def test_sft(python: str, tmp_path: Path) -> None:
    rows = [{"conversations": [{"from": "human", "value": q}, {"from": "gpt", "value": a}]} for q, a in sums(60)]
    run = train(python, tmp_path / "runs", ["sft", "--data", str(made(tmp_path / "d", rows))])
    assert run["state"] == "SUCCEEDED"
    assert "eval_loss" in run["metrics"]
    assert run["data"][0]["folder"] == str(tmp_path / "d/set")


def test_dpo(python: str, tmp_path: Path) -> None:
    rows = [{"prompt": q, "chosen": a, "rejected": "?"} for q, a in sums(60)]
    words = ["rl", "--algorithm", "dpo", "--data", str(made(tmp_path / "d", rows))]
    assert train(python, tmp_path / "runs", words)["state"] == "SUCCEEDED"


def test_grpo(python: str, tmp_path: Path) -> None:
    (tmp_path / "reward.py").write_text(REWARD)
    rows = [{"question": q, "answer": f"so\n#### {a}"} for q, a in sums(60)]
    words = ["rl", "--data", str(made(tmp_path / "d", rows)), "--set", f"rl.reward={tmp_path / 'reward.py'}:score"]
    words += ["--set", "rl.num_generations=4", "--set", "rl.max_completion_length=8"]
    assert train(python, tmp_path / "runs", words)["state"] == "SUCCEEDED"


COMPARE = """
import json, sys
from pathlib import Path
from transformers import AutoTokenizer
from data_prep.tokenizer import ModelTokenizer
folder, rows = sys.argv[1:]
ours, theirs = ModelTokenizer(Path(folder)), AutoTokenizer.from_pretrained(folder)
for line in open(rows):
    row = json.loads(line)
    (seen,) = ours.rendered(row)
    options = {"tools": json.loads(row["tools"])} if "tools" in row else {}
    assert seen.text == theirs.apply_chat_template(row["messages"], tokenize=False, **options), row
    full = theirs.apply_chat_template(row["messages"], return_dict=True, return_assistant_tokens_mask=True, **options)
    assert seen.ids == full["input_ids"], row
    if sum(full["assistant_masks"]):
        inside = [any(a <= s < b for a, b in seen.spans) for s, _ in seen.offsets]
        assert inside == [bool(bit) for bit in full["assistant_masks"]], row
"""


def test_rows_are_rendered_as_the_engine_renders_them(python: str, tmp_path: Path) -> None:
    plain = [{"prompt": f"{q} né 両 <b>&amp;</b> \"'", "completion": f" {a}\n"} for q, a in sums(30)]
    folder = made(tmp_path / "plain", plain)
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    argv = [python, "-c", COMPARE, str(MODEL), str(folder / "train.jsonl")]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_calls_are_rendered_as_the_engine_renders_them(python: str, tmp_path: Path) -> None:
    muse = ROOT.parent / "shared/tok/muse_glimmer"
    if not muse.is_dir():
        pytest.skip("the tokenizer is not here")
    turns = [("human", "1+1?"), ("function_call", CALLS), ("observation", "2"), ("gpt", "two")]
    rows = [{"conversations": [{"from": who, "value": said} for who, said in turns], "tools": TOOLS}]
    folder = made(tmp_path / "calls", rows)
    argv = [python, "-c", COMPARE, str(muse), str(folder / "train.jsonl")]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
