"""Findings about a spec for this engine."""

from __future__ import annotations

from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Everything wrong or unwise, all at once."""
    return []
