"""How the model is spread over processes, where that can't be."""

from __future__ import annotations

from collections.abc import Iterator

from backends.trl.native import document
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Counts, then what FSDP2 doesn't go with."""
    return [*_counts(spec, job), *(_fsdp2(spec, job) if spec.hardware.sharding == "fsdp2" else ())]


def _counts(spec: RunSpec, job: Job) -> Iterator[Finding]:
    processes, gpus = spec.hardware.processes, len(job.machine.gpus)
    if gpus and processes > gpus:
        yield _error("processes", f"{processes} processes on {gpus} GPUs", fix=f"hardware.processes: {gpus}")
    if not gpus and processes > job.machine.cores:
        message = f"{processes} processes on {job.machine.cores} cores wait for each other"
        yield Finding(
            code="trl.processes", level="advice", message=message, fix=f"hardware.processes: {job.machine.cores}"
        )


def _fsdp2(spec: RunSpec, job: Job) -> Iterator[Finding]:
    if "8bit" in spec.training.optimizer:
        message = f"optimizer {spec.training.optimizer} keeps 8-bit states that FSDP2 can't shard"
        yield _error("optimizer", message, fix="training.optimizer: adamw_torch_fused")
    written = document(spec, job)
    storage = written.get("quantization", {}).get("bnb_4bit_quant_storage")
    if spec.method == "qlora" and storage != written["model"]["dtype"]:
        yield _error(
            "quant_storage",
            f"FSDP2 shards 4-bit weights only when they are stored as the model's dtype {written['model']['dtype']}; "
            f"here the storage is {storage}",
            fix="remove model.dtype and native.quantization.bnb_4bit_quant_storage",
        )


def _error(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"trl.{code}", level="error", message=message, fix=fix)
