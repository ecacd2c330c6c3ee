"""Findings about a spec for this engine: everything at once, before anything starts."""

from __future__ import annotations

from backends.trl import check_machine, check_model, check_native, check_rl, check_rows, check_sharding, check_training
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Everything wrong or unwise."""
    if not spec.trains:
        return [
            Finding(code="trl.stage", level="error", message=f"trl can't do stage {spec.stage!r}", fix="backend: hf")
        ]
    usable = check_native.usable(spec)
    parts = (check_machine, check_training, check_rl, check_sharding, check_model, check_rows)
    return [*check_native.findings(spec, job), *(finding for part in parts for finding in part.findings(usable, job))]
