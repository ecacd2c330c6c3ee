"""The recipe's `native:` keys: known, of the right type, and free for a recipe to set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.axolotl import schema
from backends.axolotl.mapping import DATA, KEPT, NOT_SFT
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """Unknown, mistyped and reserved keys, rows that are named twice, and keys that need something else."""
    given = {key: value for key, value in spec.native.items() if value is not None}
    return [*_unknown(given), *_reserved(given), *_rows(spec, given)]


def _unknown(given: dict[str, Any]) -> Iterator[Finding]:
    for key, problem in schema.problems(given):
        code = "key" if "." not in key and key not in schema.properties() else "type"
        yield _error(code, key, problem, fix=f"correct or remove native.{key}")
    for name in schema.plugins(given):
        if wrong := schema.plugin_problem(name):
            yield _error("plugin", "plugins", wrong, fix="correct native.plugins")
    if given.get("trainer_cls"):
        message = f"{given['trainer_cls']} trains in place of Axolotl's own trainer, and nothing here has looked at it"
        yield Finding(code="axolotl.native.plugin", level="advice", message=message, where="native.trainer_cls")
    if schema.foreign(schema.plugins(given)):
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
        yield from _idle(given)


def _idle(given: dict[str, Any]) -> Iterator[Finding]:
    """Validation without held-out rows: Axolotl passes over one of its keys, and stops at the other."""
    if given.get("evals_per_epoch"):
        message = "native.evals_per_epoch has no effect without held-out rows"
        fix = "set data.eval or native.val_set_size"
        yield Finding(
            code="axolotl.native.eval", level="note", message=message, where="native.evals_per_epoch", fix=fix
        )
    wanting = [key for key in ("eval_steps", "early_stopping_patience", "load_best_model_at_end") if given.get(key)]
    for key in [*wanting, *(["save_strategy"] if given.get("save_strategy") == "best" else [])]:
        message = f"native.{key}: {given[key]} wants held-out rows, and there are none"
        yield _error("eval", key, message, fix=f"set data.eval or native.val_set_size, or remove native.{key}")


def _error(code: str, key: str, message: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.native.{code}", level="error", message=message, where=f"native.{key}", fix=fix)
