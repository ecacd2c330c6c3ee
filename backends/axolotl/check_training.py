"""Settings of the optimisation that this engine can't follow."""

from __future__ import annotations

from collections.abc import Iterator

from backends.axolotl import schema
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.nearest import near
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """Optimizer, schedule, warm-up, adapter."""
    return [*_names(spec), *_warmup(spec), *_lora(spec)]


def _names(spec: RunSpec) -> Iterator[Finding]:
    training = spec.training
    named = (("optimizer", training.optimizer, "adamw_torch"), ("lr_scheduler", training.lr_scheduler, "cosine"))
    for setting, given, usual in named:
        known = schema.choices(setting)
        if given not in known:
            meant = usual if usual.startswith(given) else near(given, known) or usual
            message = f"Axolotl knows no {setting} {given!r}"
            yield _error("optimizer", message, f"training.{setting}", fix=f"training.{setting}: {meant}")


def _warmup(spec: RunSpec) -> Iterator[Finding]:
    if spec.training.warmup_steps == 1:
        message = "Axolotl makes two steps of one step of warm-up"
        yield Finding(code="axolotl.warmup", level="note", message=message, where="training.warmup_steps")


def _lora(spec: RunSpec) -> Iterator[Finding]:
    targets = spec.lora.target_modules
    if spec.method != "full" and "lm_head" in ([targets] if isinstance(targets, str) else targets):
        message = "an adapter on lm_head is not merged with tied embeddings, and fused losses pass it by"
        yield _error("lora", message, "lora.target_modules", fix="lora.modules_to_save: [lm_head]")
    if spec.method == "lora" and spec.native.get("load_in_4bit"):
        message = "a base in 4 bits is what method qlora is; the plan counts memory for one in 16"
        where = "native.load_in_4bit"
        yield Finding(code="axolotl.four_bits", level="advice", message=message, where=where, fix="method: qlora")


def _error(code: str, message: str, where: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.{code}", level="error", message=message, where=where, fix=fix)
