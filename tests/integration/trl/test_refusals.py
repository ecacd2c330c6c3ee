"""Runs that would teach nothing, or something else, end with a reason; each has its clean twin among the stages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import MakeHand, sums
from .hand import Outcome, write_rows

pytestmark = pytest.mark.integration


def refused(outcome: Outcome, code: str) -> str:
    """The reason of a failed run, which must be the only one."""
    assert outcome.code == 1
    assert outcome.codes() == [code], outcome.log
    assert "Traceback" not in outcome.log
    assert not outcome.of("step")
    return str(outcome.of("error")[0]["message"])


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ("return [None] * len(completions)", "reward.value", "None for completion 0"),
        ("return 1 / 0", "reward.raised", "ZeroDivisionError"),
    ],
)
def test_a_reward_that_goes_wrong(make_hand: MakeHand, tmp_path: Path, body: str, code: str, told: str) -> None:
    file = tmp_path / "bad.py"
    file.write_text(f"def score(completions, **columns):\n    {body}\n", encoding="utf-8")
    message = refused(make_hand("grpo", "lora", _rl={"reward": [f"{file}:score"]}).run(), code)
    assert told in message
    assert f"{file}:score" in message
    assert code != "reward.raised" or f"{file}:2" in message


def test_truncation_that_leaves_no_answer(make_hand: MakeHand) -> None:
    assert "48 of 48 rows" in refused(make_hand("sft", "lora", max_length=12).run(), "mask.empty")


def test_target_names_that_match_nothing(make_hand: MakeHand) -> None:
    outcome = make_hand("sft", "lora", _lora={"target_modules": ["query_key_value"]}).run()
    refused(outcome, "lora.no_target")
    assert "q_proj" in outcome.of("error")[0]["fix"]


def test_weights_that_would_be_random(make_hand: MakeHand, model: Path, tmp_path: Path) -> None:
    """A config that says one layer more than the weights have."""
    folder = tmp_path / "deeper"
    folder.mkdir()
    for file in model.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = (folder / "config.json").read_text(encoding="utf-8")
    layered = config.replace('"num_hidden_layers": 2', '"num_hidden_layers": 3')
    layered = layered.replace('"layer_types": [', '"layer_types": [\n    "full_attention",')
    (folder / "config.json").write_text(layered, encoding="utf-8")
    assert "11 tensors are missing" in refused(make_hand("sft", "lora", base=folder).run(), "model.random_weights")


def edited(model: Path, folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of the model with one text changed."""
    shutil.copytree(model, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    return folder


def test_weights_of_another_shape_are_named(make_hand: MakeHand, model: Path, tmp_path: Path) -> None:
    folder = edited(model, tmp_path / "wider", "config.json", '"intermediate_size": 128', '"intermediate_size": 96')
    said = refused(make_hand("sft", "lora", base=folder).run(), "model.random_weights")
    assert "6 have another shape (model.layers.0.mlp.down_proj.weight" in said


def test_a_turn_mark_that_is_no_token(make_hand: MakeHand, model: Path, tmp_path: Path) -> None:
    folder = edited(model, tmp_path / "marks", "chat_template.jinja", "<|im_start|>", "<|turn|>")
    assert "<|turn|>" in refused(make_hand("sft", "lora", base=folder).run(), "tokenizer.split")


def test_an_artifact_is_never_overwritten(make_hand: MakeHand) -> None:
    hand = make_hand("sft", "lora")
    hand.adapter.parent.mkdir(parents=True)
    refused(hand.run(), "output.exists")


def test_rows_of_another_stage(make_hand: MakeHand, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", sums()["grpo"])
    assert "rows.jsonl:1" in refused(make_hand("dpo", "lora", rows=rows).run(), "data.form")
