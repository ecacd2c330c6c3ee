"""A run's own plan and native files: a resumed run is the run it was, so they must be what its start wrote."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.manifest import Manifest
from orchestrator.plan import RunPlan


def digest(plan: RunPlan) -> str:
    """sha256 of a plan in canonical JSON, hex."""
    text = json.dumps(plan.model_dump(mode="json", by_alias=True), sort_keys=True)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def require_as_planned(plan: RunPlan, record: Manifest) -> None:
    """Compare a run's folder with what its start wrote there.

    Raises:
        UsageError: its plan or a native file was edited.
    """
    edited = [] if record.plan in (None, digest(plan)) else ["plan.json"]
    files = plan.native.files if plan.native else ()
    edited += [file.path for file in files if _differs(plan.run_dir / file.path, file.content)]
    if edited:
        raise UsageError(
            f"{', '.join(edited)} changed since the run was started",
            where=str(plan.run_dir),
            why="half of its steps would follow one configuration and half another, under one fingerprint",
            fix="start a new run with the new settings; keys of the engine belong below native: in the recipe",
        )


def _differs(path: Path, planned: str) -> bool:
    """Whether a file is gone or has other bytes than planned."""
    return not path.is_file() or path.read_bytes() != planned.encode(errors="backslashreplace")
