"""How the model is spread over processes, where that can't be."""

from __future__ import annotations

from collections.abc import Iterator

from backends.axolotl.choices import bitsandbytes, choose
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Counts, then what FSDP2 doesn't go with."""
    return [*_counts(spec, job), *(_fsdp2(spec, job) if spec.hardware.sharding == "fsdp2" else ())]


def _counts(spec: RunSpec, job: Job) -> Iterator[Finding]:
    processes, gpus = spec.hardware.processes, len(job.machine.gpus)
    if gpus and processes > gpus:
        message = f"{processes} processes on {gpus} GPUs"
        yield _error("processes", message, "hardware.processes", fix=f"hardware.processes: {gpus}")
    if not gpus and processes > job.machine.cores:
        message, fix = f"{processes} processes on {job.machine.cores} cores wait for each other", "fewer processes"
        yield Finding(code="axolotl.processes", level="advice", message=message, fix=fix, where="hardware.processes")


def _fsdp2(spec: RunSpec, job: Job) -> Iterator[Finding]:
    if not job.machine.gpus:
        message = "Axolotl 0.19.0 builds FSDP2's device mesh for CUDA only, so it can't shard on a CPU"
        fix = "hardware.sharding: ddp, or backend: trl, whose FSDP2 also runs on a CPU"
        yield _error("fsdp2_cpu", message, "hardware.sharding", fix)
    if bitsandbytes(spec.training.optimizer):
        message = f"optimizer {spec.training.optimizer} is of bitsandbytes, whose states FSDP2 can't shard"
        yield _error("optimizer", message, "training.optimizer", fix="training.optimizer: adamw_torch_fused")
    if spec.method != "full" and _recomputes(spec, job):
        message = (
            "under FSDP2, activation checkpointing leaks its wrappers' names into the gathered adapter, and a reload "
            "skips those weights without a word (Axolotl 0.19.0)"
        )
        fix = "training.gradient_checkpointing: false, and no activation_checkpointing in native.fsdp_config"
        yield _error("fsdp2_checkpointing", message, "training.gradient_checkpointing", fix)


def _recomputes(spec: RunSpec, job: Job) -> bool:
    given = spec.native.get("fsdp_config")
    asked = given.get("activation_checkpointing") if isinstance(given, dict) else None
    return bool(choose(spec, job).checkpointing if asked is None else asked)


def _error(code: str, message: str, where: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.{code}", level="error", message=message, where=where, fix=fix)
