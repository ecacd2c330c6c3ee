"""Optimisation and cadence. Where the file is silent, Axolotl's default is written out if ours is another."""

from __future__ import annotations

from typing import Any, get_args

from backends.axolotl.import_ignored import number
from backends.axolotl.import_sharding import sharded
from backends.axolotl.reading import Reading
from orchestrator.spec import Scheduler

_DEFAULTS: dict[str, tuple[str, Any]] = {
    "num_epochs": ("training.epochs", 1),
    "micro_batch_size": ("training.batch_size", 1),
    "gradient_accumulation_steps": ("training.gradient_accumulation", 1),
    "sequence_len": ("training.max_length", 512),
    "optimizer": ("training.optimizer", "adamw_torch_fused"),
    "save_total_limit": ("training.save_total_limit", 4),
}
"""Key -> our setting, and what Axolotl 0.19.0 takes when the key is absent; ours differs."""
_SAID: dict[str, str] = {
    "weight_decay": "training.weight_decay",
    "adam_beta1": "training.adam_beta1",
    "adam_beta2": "training.adam_beta2",
    "max_grad_norm": "training.max_grad_norm",
    "seed": "training.seed",
    "logging_steps": "training.logging_steps",
}
"""Settings with the same default on both sides, or one that changes nothing but the log."""


def translate(reading: Reading) -> None:
    """`training:`."""
    rate = reading.take("learning_rate")
    reading.put("training.learning_rate", number(rate) if isinstance(rate, str) else rate, key="learning_rate")
    for key, (setting, default) in _DEFAULTS.items():
        value = reading.take(key)
        reading.put(setting, default if value is None else value, key=key)
    for key, setting in _SAID.items():
        if (value := reading.take(key)) is not None:
            reading.put(setting, value, key=key)
    if (steps := reading.take("max_steps")) and steps > 0:
        reading.put("training.max_steps", steps, key="max_steps")
    if reading.take("sample_packing"):
        reading.put("training.packing", True, key="sample_packing")
    _schedule(reading)
    _warmup(reading)
    _checkpointing(reading)
    _saving(reading)


def _schedule(reading: Reading) -> None:
    scheduler = reading.take("lr_scheduler") or "cosine"
    if scheduler in get_args(Scheduler):
        reading.put("training.lr_scheduler", scheduler, key="lr_scheduler")
    else:
        reading.put("native.lr_scheduler", scheduler, key="lr_scheduler")
    arguments = reading.given.get("lr_scheduler_kwargs")
    if scheduler == "cosine_with_min_lr" and isinstance(arguments, dict) and "min_lr_rate" not in arguments:
        reading.given["lr_scheduler_kwargs"] = {**arguments, "min_lr_rate": None}


def _warmup(reading: Reading) -> None:
    steps = reading.take("warmup_steps")
    if isinstance(steps, float):
        reading.put("native.warmup_steps", steps, key="warmup_steps")
    elif steps is not None:
        reading.put("training.warmup_steps", steps, key="warmup_steps")
        if "warmup_ratio" in reading.given:
            reading.leave("warmup_ratio", "warmup_steps goes before it")
    elif "warmup_ratio" not in reading.given:
        comment = "not said in the original: Axolotl's own rule, 3 % of the steps and at most 100"
        reading.put("native.warmup_steps", None, comment=comment)


def _checkpointing(reading: Reading) -> None:
    """True and false are ours; `offload` and its like are Axolotl's. Under FSDP2 the sharding decides."""
    value = reading.given.get("gradient_checkpointing")
    if isinstance(value, str):
        reading.put("training.gradient_checkpointing", True, key="gradient_checkpointing")
    elif sharded(reading.given):
        return
    else:
        reading.put("training.gradient_checkpointing", bool(value), key="gradient_checkpointing")
        reading.take("gradient_checkpointing")


def _saving(reading: Reading) -> None:
    steps = reading.take("save_steps")
    if steps and isinstance(steps, int):
        reading.put("training.save_steps", steps, key="save_steps")
    elif steps:
        reading.put("native.save_steps", steps, key="save_steps")
    elif not any(reading.given.get(key) for key in ("save_strategy", "saves_per_epoch")):
        for key in ("save_strategy", "saves_per_epoch"):
            reading.take(key)
        reading.put("native.save_strategy", "epoch", comment="not said in the original: Axolotl saves after each epoch")
