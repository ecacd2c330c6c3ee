"""Settings of the optimisation that this engine can't follow."""

from __future__ import annotations

from collections.abc import Iterator

from backends.trl import schema
from backends.trl.config import CONFIGS, native
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """Optimizer, packing and the adapter."""
    return [*_optimizer(spec), *_packing(spec), *_lora(spec)]


def _optimizer(spec: RunSpec) -> Iterator[Finding]:
    names = schema.fields(CONFIGS[spec.stage])["optim"]["choices"]
    if spec.training.optimizer not in names:
        message = f"unknown training.optimizer {spec.training.optimizer!r}{nearest(spec.training.optimizer, names)}"
        yield _error("optimizer", message, fix="training.optimizer: adamw_torch")


def _packing(spec: RunSpec) -> Iterator[Finding]:
    given = native(spec, "config")
    if given.get("padding_free") and not spec.training.packing and spec.stage == "sft":
        message = "padding_free without packing doesn't enforce training.max_length, and TRL refuses it"
        yield _error("packing", message, fix="training.packing: true, or remove native.config.padding_free")
    if not spec.training.packing:
        return
    if spec.stage != "sft":
        yield _error("packing", f"stage {spec.stage} can't pack rows", fix="remove training.packing")
    if given.get("parallelism_config"):
        message = "packing under context parallelism lets packed rows attend to each other, and TRL refuses it"
        yield _error("packing", message, fix="training.packing: false")


def _lora(spec: RunSpec) -> Iterator[Finding]:
    targets = spec.lora.target_modules
    if spec.method != "full" and "lm_head" in ([targets] if isinstance(targets, str) else targets):
        message = (
            "an adapter on lm_head is never trained: TRL computes the loss from lm_head.weight itself, and refuses it"
        )
        yield _error("lora", message, fix="remove lm_head from lora.target_modules")


def _error(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"trl.{code}", level="error", message=message, fix=fix)
