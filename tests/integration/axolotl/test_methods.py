"""LoRA, QLoRA and full weights: what is told, what is saved, and that it is what was trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import MakeHand
from .hand import MODEL, Hand, Outcome, header

pytestmark = pytest.mark.integration

TOKENIZER = {"chat_template.jinja", "tokenizer.json", "tokenizer_config.json"}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_lora_tells_its_way(whole_lora: tuple[Hand, Outcome]) -> None:
    hand, outcome = whole_lora
    assert outcome.code == 0, outcome.log
    assert outcome.states == ["loading", "training", "saving", "done"]
    assert (outcome.codes("error"), outcome.codes("warning")) == ([], [])
    losses = outcome.metric("loss")
    assert list(losses) == list(range(1, 9))
    assert losses[8] < losses[1]
    assert any(len(str(loss)) > 8 for loss in losses.values()), "rounded numbers are no measurement"
    assert list(outcome.metric("eval_loss")) == [0, 4, 8]
    assert {event["total"] for event in outcome.of("step")} == {8}
    assert [event["step"] for event in outcome.of("checkpoint")] == [2, 4, 6, 8]
    assert {Path(event["path"]) for event in outcome.of("checkpoint")} >= set(hand.checkpoints)


def test_lora_shows_what_gets_loss(whole_lora: tuple[Hand, Outcome]) -> None:
    (sample,) = whole_lora[1].of("sample")
    before, _, after = sample["marked"].partition("⟦")
    assert "What is" in before
    assert before.endswith("<|im_start|>assistant\n")
    assert after.rstrip().endswith("<|im_end|>⟧")
    assert after.partition("<|im_end|>")[0].isdigit()


def test_lora_saves_what_it_trained(whole_lora: tuple[Hand, Outcome]) -> None:
    hand, outcome = whole_lora
    assert names(hand.artifact) == {"adapter_config.json", "adapter_model.safetensors", *TOKENIZER}
    config = json.loads((hand.artifact / "adapter_config.json").read_text(encoding="utf-8"))
    assert (config["base_model_name_or_path"], config["revision"]) == (str(MODEL), None)
    check(outcome, tensors=len(header(hand.artifact / "adapter_model.safetensors")) - 1)
    assert outcome.facts["steps"] == 8
    assert outcome.facts["trainable_parameters"] == outcome.facts["parameters"]
    assert names(hand.artifact.parent) == {"adapter"}
    assert not list(hand.folder.glob("checkpoints/*.safetensors")), "the weights move, they are not copied"


def test_full(make_hand: MakeHand) -> None:
    hand = make_hand("full", max_steps=3, save_steps=3)
    outcome = hand.run()
    assert outcome.code == 0, outcome.log
    assert names(hand.artifact) == {"config.json", "generation_config.json", "model.safetensors", *TOKENIZER}
    stored, base = header(hand.artifact / "model.safetensors"), header(MODEL / "model.safetensors")
    assert shapes(stored) == shapes(base)
    check(outcome, tensors=len(shapes(base)))


def test_qlora(make_hand: MakeHand) -> None:
    hand = make_hand("qlora", max_steps=3, save_steps=3, precision="bf16")
    outcome = hand.run()
    assert outcome.code == 0, outcome.log
    check(outcome, tensors=len(header(hand.artifact / "adapter_model.safetensors")) - 1)


def shapes(head: dict[str, Any]) -> dict[str, Any]:
    return {name: entry["shape"] for name, entry in head.items() if name != "__metadata__"}


def check(outcome: Outcome, tensors: int) -> None:
    """The proof's numbers: near the trained model, away from where it began."""
    facts = outcome.facts
    assert facts["tensors"] == tensors
    assert facts["max_abs_logit_difference"] <= facts["logit_tolerance"]
    assert facts["training_logit_effect"] > 10 * facts["max_abs_logit_difference"]
