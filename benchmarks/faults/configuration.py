"""Settings that are ignored, misread, or can't work together."""

from __future__ import annotations

from typing import Any

from benchmarks.faults.fault import Fault, Words
from benchmarks.faults.lab import CHATS, PAIRS, PROMPTS, QUICKSTART, Lab

_SCORE = "def score(completions, **_): return [0.0] * len(completions)\n"
_ROWS = {"sft": CHATS, "dpo": PAIRS, "grpo": PROMPTS}


def _stage(lab: Lab, stage: str, settings: dict[str, Any]) -> list[str]:
    given: dict[str, Any] = {"stage": stage, "model": str(QUICKSTART / "model"), "data": lab.rows(_ROWS[stage])}
    if stage == "grpo":
        given["rl"] = {"reward": [f"{lab.file('reward.py', _SCORE)}:score"], **settings.pop("rl", {})}
    return lab.recipe({**given, **settings})


def _setting(stage: str, faulty: dict[str, Any], clean: dict[str, Any] | None = None) -> Words:
    """The same recipe, with these settings or those."""
    return lambda lab, bad: _stage(lab, stage, dict(faulty if bad else clean or {}))


def _sharded(**more: Any) -> dict[str, Any]:
    return {"method": "full", "hardware": {"processes": 2, "sharding": "fsdp2"}, **more}


_AXOLOTL = {"backend": "axolotl", "method": "lora", "hardware": {"processes": 2, "sharding": "fsdp2"}}
_GROUPS = {"training": {"batch_size": 6, "gradient_accumulation": 1}, "rl": {"num_generations": 4}}

FAULTS = (
    Fault("K1", "a key in the wrong place", _setting("sft", {"learning_rate": 5e-5}), "learning_rate"),
    Fault("K1", "a misspelt key", _setting("sft", {"training": {"learning_rte": 5e-5}}), "learning_rte"),
    Fault("K1", "a setting of another stage", _setting("sft", {"rl": {"beta": 0.1}}), "rl.beta"),
    Fault("K1", "a misspelt native key", _setting("sft", {"native": {"config": {"max_stepz": 3}}}), "max_stepz"),
    Fault(
        "K1",
        "LoRA settings while all weights are trained",
        _setting("sft", {"method": "full", "lora": {"r": 8}}),
        "lora.r",
    ),
    Fault("K2", "a number that is text", _setting("sft", {"training": {"learning_rate": "2e-5x"}}), "learning_rate"),
    Fault("K2", "yes for a number", _setting("sft", {"training": {"batch_size": True}}), "batch_size"),
    Fault(
        "K3",
        "an 8-bit optimizer with FSDP2",
        _setting("sft", _sharded(training={"optimizer": "adamw_8bit"}), _sharded()),
        "8-bit|8bit",
    ),
    Fault(
        "K4",
        "FSDP2 LoRA with activation checkpointing on Axolotl 0.19.0",
        _setting("sft", _AXOLOTL | {"training": {"gradient_checkpointing": True}}),
        "checkpointing",
    ),
    Fault(
        "K5",
        "shards, and only one rank",
        _setting("sft", {"hardware": {"sharding": "fsdp2"}}),
        "processes|sharding",
    ),
    Fault("R1", "a batch that is no multiple of the group", _setting("grpo", _GROUPS), "multiple"),
    Fault(
        "R4",
        "completions as long as the whole row",
        _setting("grpo", {"rl": {"max_completion_length": 4096}}),
        "no room|max_completion_length",
    ),
    Fault("R2", "no reward at all", _setting("grpo", {"rl": {"reward": []}}), "no reward"),
    Fault(
        "R2",
        "a reward function that isn't in its file",
        _setting("grpo", {"rl": {"reward": [f"{__file__}:scor"]}}),
        "defines no 'scor'",
    ),
    Fault("K1", "packing where nothing is packed", _setting("grpo", {"training": {"packing": True}}), "packing"),
    Fault("K1", "an unknown loss", _setting("dpo", {"rl": {"loss_type": "sigmoyd"}}), "sigmoyd"),
    Fault("C1", "DPO without a pull to the reference", _setting("dpo", {"rl": {"beta": 0.0}}), "loss is constant"),
    Fault(
        "K2",
        "the learning rate of SFT for DPO",
        _setting("dpo", {"training": {"learning_rate": 2e-4}}),
        "learning_rate",
    ),
)
