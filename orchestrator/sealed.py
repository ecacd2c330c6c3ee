"""A run's own plan and native files: a resumed run is the run it was, so they must be what its start wrote."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from orchestrator.errors import UsageError
from orchestrator.manifest import Manifest
from orchestrator.plan import RunPlan


def digest(plan: RunPlan) -> str:
    """sha256 of a plan in canonical JSON, hex."""
    return sealing(plan.model_dump(mode="json", by_alias=True))


def require_as_planned(plan: RunPlan, record: Manifest) -> None:
    """Compare a run's folder with what its start wrote there.

    Raises:
        UsageError: its plan or a native file was edited.
    """
    # the file itself: a newer version reads it with settings that it didn't know
    written = sealing(json.loads((plan.run_dir / "plan.json").read_bytes()))
    edited = [] if record.plan in (None, written) else ["plan.json"]
    files = plan.native.files if plan.native else ()
    edited += [file.path for file in files if _differs(plan.run_dir / file.path, file.content)]
    if edited:
        raise UsageError(
            f"{', '.join(edited)} changed since the run was started",
            where=str(plan.run_dir),
            why="half of its steps would follow one configuration and half another, under one fingerprint",
            fix="start a new run with the new settings; keys of the engine belong below native: in the recipe",
        )


def sealing(content: Any) -> str:
    """sha256 of what a plan's file holds, in canonical JSON, hex."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _differs(path: Path, planned: str) -> bool:
    """Whether a file is gone or has other bytes than planned."""
    return not path.is_file() or path.read_bytes() != planned.encode(errors="backslashreplace")
