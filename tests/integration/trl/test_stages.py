"""Every stage and method trains, says so in events, and leaves an artifact that holds what it should."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from .conftest import MakeHand
from .hand import Hand, Outcome, write_rows

pytestmark = pytest.mark.integration


def header(file: Path) -> dict[str, Any]:
    """Tensor names of a safetensors file, read without a framework."""
    raw = file.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    return {name: entry for name, entry in json.loads(raw[8 : 8 + length]).items() if name != "__metadata__"}


def test_sft_lora(whole_sft: tuple[Hand, Outcome]) -> None:
    _, outcome = whole_sft
    assert outcome.code == 0, outcome.log
    assert [e["state"] for e in outcome.of("state")] == ["loading", "training", "saving", "done"]
    losses = outcome.metric("loss")
    assert len(losses) == 8
    assert losses[-1] < losses[0] - 0.2
    assert [e["step"] for e in outcome.of("checkpoint")] == [2, 4, 6, 8]
    (sample,) = outcome.of("sample")
    assert sample["marked"].endswith("<|im_start|>assistant\n⟦The sum is 146.<|im_end|>⟧\n")
    (result,) = outcome.of("result")
    assert result["metrics"]["steps"] == 8


def test_the_adapter_belongs_to_its_base_and_its_tokenizer_is_unchanged(whole_sft: tuple[Hand, Outcome]) -> None:
    hand, _ = whole_sft
    names = header(hand.adapter)
    assert len(names) == 2 * 2 * 4  # A and B, two layers, four projections
    assert all(name.startswith("base_model.model.model.layers.") for name in names)
    config = json.loads((hand.adapter.parent / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["base_model_name_or_path"] == str(hand.model)
    assert (config["r"], config["lora_alpha"]) == (4, 8)
    template = "chat_template.jinja"
    assert (hand.adapter.parent / template).read_bytes() == (hand.model / template).read_bytes()


def test_a_template_without_markers_gives_the_same_training(
    make_hand: MakeHand, whole_sft: tuple[Hand, Outcome], plain_model: Path
) -> None:
    outcome = make_hand("sft", "lora", base=plain_model, max_steps=8).run()
    assert outcome.code == 0, outcome.log
    assert outcome.of("sample")[0]["marked"] == whole_sft[1].of("sample")[0]["marked"]
    assert outcome.metric("loss") == whole_sft[1].metric("loss")


def test_sft_qlora_and_validation(make_hand: MakeHand, data: Path) -> None:
    hand = make_hand(
        "sft", "qlora", eval_steps=2, _data={"train": str(data / "sft.jsonl"), "eval": str(data / "sft.jsonl")}
    )
    outcome = hand.run()
    assert outcome.code == 0, outcome.log
    assert outcome.metric("loss")[-1] < outcome.metric("loss")[0]
    assert len(outcome.metric("eval_loss")) == 2
    assert len(header(hand.adapter)) == 16


def test_dpo_prefers_the_chosen_answers(make_hand: MakeHand) -> None:
    hand = make_hand("dpo", "full", max_steps=6)
    outcome = hand.run()
    assert outcome.code == 0, outcome.log
    assert outcome.metric("loss")[0] == pytest.approx(0.6931, abs=1e-4)
    assert outcome.metric("rewards/margins")[-1] > 0.1
    names = header(hand.folder / "artifacts" / "model" / "model.safetensors")
    assert "lm_head.weight" not in names, "the embeddings are tied"
    assert names.keys() == header(hand.model / "model.safetensors").keys()


def test_grpo_shows_completions_and_rewards(make_hand: MakeHand) -> None:
    outcome = make_hand("grpo", "full", max_steps=3, _rl={"beta": 0.05}).run()
    assert outcome.code == 0, outcome.log
    assert len(outcome.metric("reward")) == 3
    assert outcome.metric("kl")[0] == pytest.approx(0.0, abs=1e-6)
    assert outcome.metric("kl")[-1] > 0
    assert outcome.of("sample")[0]["rewards"].keys() == {"score"}
    assert "reward.clipped" in outcome.codes("warning"), "random weights never end an answer"


def test_held_out_items_are_answered_at_checkpoints_and_change_nothing(make_hand: MakeHand, tmp_path: Path) -> None:
    held_out = tmp_path / "held_out.jsonl"
    write_rows(held_out, [{"prompt": [{"role": "user", "content": f"Is {n} odd ?"}], "answer": "no"} for n in range(6)])
    watching = make_hand("grpo", "lora", _rl={"held_out": str(held_out), "held_out_metric": "contains"})
    plain, watched = make_hand("grpo", "lora").run(), watching.run()
    assert watched.code == 0, watched.log
    for name in ("reward", "loss", "grad_norm"):
        assert watched.metric(name) == plain.metric(name)
    steps = [event["step"] for event in watched.of("step") if "held_out/score" in event["metrics"]]
    assert steps == [0, 2, 4]
    kept = sorted((watching.folder / "samples").iterdir())
    assert [path.name for path in kept] == ["step-000000.md", "step-000002.md", "step-000004.md"]
    assert "user: Is 5 odd ?" in kept[-1].read_text(encoding="utf-8")
