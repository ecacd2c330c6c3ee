"""Native keys that our own vocabulary also decides: plan, memory estimate and advice would be about another run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from backends.axolotl.mapping import CADENCE, DATA, KEPT, TRANSLATED, ours
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import Attention, RunSpec, Scheduler


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """An error for each second truth, and advice where FSDP1 goes past us."""
    given = {key: value for key, value in spec.native.items() if value is not None}
    return [*_second(spec, given), *_fsdp1(spec, given)]


def _second(spec: RunSpec, given: dict[str, Any]) -> Iterator[Finding]:
    for key, value in given.items():
        setting = ours(key)
        if setting is None or key in (*CADENCE, *DATA, *KEPT) or _free(spec, key, value):
            continue
        message = f"native.{key} is {value!r}, but {setting} decides it; the plan would describe another run"
        yield Finding(
            code="axolotl.native.contradiction",
            level="error",
            message=message,
            where=f"native.{key}",
            fix=f"remove native.{key} and set {setting}",
        )


def _free(spec: RunSpec, key: str, value: Any) -> bool:
    """Keys that say what our settings can't, or that a recipe left open."""
    sharded = key in TRANSLATED["hardware.sharding"] and spec.hardware.sharding != "none"
    rows = spec.data.train is None and key in (*TRANSLATED["data.eval"], *TRANSLATED["training.loss_on"])
    return key in _BESIDE or sharded or rows or _unsaid(spec, key, value)


_BESIDE = ("deepspeed", "load_in_8bit", "float16", "bfloat16")
"""Told of elsewhere, or nothing that our settings could say."""


def _unsaid(spec: RunSpec, key: str, value: Any) -> bool:
    training, fraction = spec.training, isinstance(value, float)
    cases = {
        "lr_scheduler": value not in get_args(Scheduler),
        "attn_implementation": value not in get_args(Attention),
        "warmup_steps": fraction,
        "save_steps": training.save_steps is None and fraction,
        "eval_steps": training.eval_steps is None and (fraction or spec.data.eval is None),
        "lora_target_linear": spec.lora.target_modules != "all-linear",
        "load_in_4bit": spec.method == "lora",
        "gradient_checkpointing": spec.hardware.sharding == "fsdp2" or value in ("offload", "offload_disk"),
    }
    return cases.get(key, False)


def _fsdp1(spec: RunSpec, given: dict[str, Any]) -> Iterator[Finding]:
    keys = [key for key in ("fsdp_config", "fsdp") if given.get(key)]
    if keys and spec.hardware.sharding == "ddp":
        message = (
            "FSDP1 is on its way out of Axolotl, and the plan counts it as DDP: a whole model on each rank. "
            "Whether its final save is whole was not tried here"
        )
        yield Finding(
            code="axolotl.fsdp1",
            level="advice",
            message=message,
            where=f"native.{keys[0]}",
            fix="hardware.sharding: fsdp2, with the same native.fsdp_config",
        )
