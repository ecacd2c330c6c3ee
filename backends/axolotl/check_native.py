"""The recipe's `native:` keys: known, of the right type, and not a second truth beside our own settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from backends.axolotl import schema
from backends.axolotl.mapping import CADENCE, DATA, KEPT, NOT_SFT, TRANSLATED, ours
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec, Scheduler

_OPEN = {
    "gradient_checkpointing": ("offload", "offload_disk"),
    "load_in_8bit": (True, False),
}
"""Values of mapped keys that our settings can't say."""


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """Unknown, mistyped, reserved and contradicting keys, and those that need something else."""
    given = {key: value for key, value in spec.native.items() if value is not None}
    return [*_unknown(given), *_reserved(given), *_second_truths(spec, given), *_rows(spec, given)]


def _unknown(given: dict[str, Any]) -> Iterator[Finding]:
    for key, problem in schema.problems(given):
        code = "key" if "." not in key and key not in schema.properties() else "type"
        yield _error(code, key, problem, fix=f"correct or remove native.{key}")
    plugins = given.get("plugins")
    if isinstance(plugins, list) and schema.foreign(name for name in plugins if isinstance(name, str)):
        message = (
            "a plugin from outside Axolotl runs its code in the engine, and keys that only it knows aren't checked"
        )
        yield Finding(code="axolotl.native.plugin", level="advice", message=message, where="native.plugins")


def _reserved(given: dict[str, Any]) -> Iterator[Finding]:
    for key, reason in KEPT.items():
        if key in given:
            yield _error("reserved", key, f"native.{key} can't be set: {reason}", fix=f"remove native.{key}")
    if "deepspeed" in given:
        message = (
            "DeepSpeed is not in the environment: its kernels have no wheel for every Python, and FSDP2 does the same"
        )
        yield _error("deepspeed", "deepspeed", message, fix="remove native.deepspeed; hardware.sharding: fsdp2")
    for key in (key for key in NOT_SFT if given.get(key)):
        message = f"native.{key} is no supervised fine-tuning"
        yield _error("stage", key, message, fix="post-train rl, with backend trl")


def _second_truths(spec: RunSpec, given: dict[str, Any]) -> Iterator[Finding]:
    """A value that our own vocabulary also decides: plan, memory estimate and advice would be about another run."""
    for key, value in given.items():
        setting = ours(key)
        if setting is None or key in (*CADENCE, *DATA, *KEPT) or _free(spec, key, value):
            continue
        message = f"native.{key} is {value!r}, but {setting} decides it; the plan would describe another run"
        yield _error("contradiction", key, message, fix=f"remove native.{key} and set {setting}")


def _free(spec: RunSpec, key: str, value: Any) -> bool:
    """Keys that say what our settings can't, or that a recipe left open."""
    training, own_rows = spec.training, spec.data.train is None
    unset = {"save_steps": training.save_steps is None, "eval_steps": training.eval_steps is None}
    sharded = key in TRANSLATED["hardware.sharding"] and spec.hardware.sharding == "fsdp2"
    rows = own_rows and key in (*TRANSLATED["data.eval"], *TRANSLATED["training.loss_on"])
    fraction = unset.get(key, False) and isinstance(value, float)
    schedule = key == "lr_scheduler" and value not in get_args(Scheduler)
    return key == "deepspeed" or sharded or rows or fraction or schedule or value in _OPEN.get(key, ())


def _rows(spec: RunSpec, given: dict[str, Any]) -> Iterator[Finding]:
    named = [key for key in DATA if key in given]
    if named and spec.data.train:
        message = f"rows are named twice, by data.train and by native.{named[0]}"
        yield _error("contradiction", named[0], message, fix="keep one of them")
    elif named:
        message = (
            f"native.{named[0]} is read by Axolotl itself: its rows are neither checked before launch nor part of the "
            "run's fingerprint, so a change in them goes unnoticed"
        )
        yield Finding(code="axolotl.native.rows", level="advice", message=message, where=f"native.{named[0]}")
    if "test_datasets" in given and spec.data.eval:
        yield _error("contradiction", "test_datasets", "held-out rows are named twice", fix="keep data.eval")
    if not spec.data.eval and not given.get("val_set_size") and not given.get("test_datasets"):
        for key in ("evals_per_epoch", "eval_steps"):
            if given.get(key):
                message = f"native.{key} without held-out rows"
                yield _error("eval", key, message, fix=f"set data.eval or native.val_set_size, or remove native.{key}")


def _error(code: str, key: str, message: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.native.{code}", level="error", message=message, where=f"native.{key}", fix=fix)
