"""Findings about a spec for this engine: everything at once, before anything starts."""

from __future__ import annotations

from backends.axolotl import (
    check_data,
    check_machine,
    check_model,
    check_native,
    check_parallel,
    check_paths,
    check_saving,
    check_sharding,
    check_training,
    check_truths,
    check_values,
)
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_PARTS = (
    *(check_native, check_truths, check_values, check_paths, check_parallel, check_machine, check_model),
    *(check_training, check_saving, check_sharding, check_data),
)


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Everything wrong or unwise."""
    if spec.stage != "sft":
        message = f"axolotl can't do stage {spec.stage!r} here"
        return [Finding(code="axolotl.stage", level="error", message=message, fix="backend: trl", where="backend")]
    return [finding for part in _PARTS for finding in part.findings(spec, job)]
