"""What the rows hold, against an engine that trains on text."""

from __future__ import annotations

from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_NO_TEXT = ("pictures", "list", "media", "unknown")


def findings(_: RunSpec, job: Job) -> list[Finding]:
    """Rows with something other than text, once in each file."""
    first = {trait.file: trait for trait in reversed(job.traits) if trait.name in _NO_TEXT}
    return [
        Finding(
            code="trl.images",
            level="error",
            message="rows hold pictures, sound or parts of another type, and this backend trains on text",
            where=trait.where,
            fix="backend: axolotl, or leave only the text of these rows",
        )
        for trait in first.values()
    ]
