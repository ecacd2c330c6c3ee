"""The content of a checkpoint when it was saved, kept in the run's events, and held against it before a resume.

Standard library only. A checkpoint whose files only look whole would go on with other weights under the run's name.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from orchestrator.events import EventReader

Saved = dict[str, dict[str, str] | None]
"""Name of a checkpoint -> its files with their sha256; None where the event that tells of it has none."""


def files(checkpoint: Path) -> dict[str, str]:
    """Every file of a checkpoint with its sha256 in hex."""
    found = sorted(path for path in checkpoint.rglob("*") if path.is_file())
    return {str(path.relative_to(checkpoint)): _digest(path) for path in found}


def of(run: Path | None) -> Saved | None:
    """What the events of all attempts say, the last word counting; None for a command run by hand, which has none."""
    if run is None:
        return None
    attempts = sorted(run.glob("attempts/*/events.jsonl"))
    told = [e for path in attempts for e in EventReader(path).new() if e["type"] == "checkpoint"]
    return {Path(str(event.get("path"))).name: _files(event) for event in told}


def fault(checkpoint: Path, saved: Saved | None) -> str | None:
    """What is other than when it was saved; None for nothing."""
    if saved is None:
        return None
    if checkpoint.name not in saved:
        return "this run never told that it was saved"
    recorded = saved[checkpoint.name] or {}
    changed = [name for name, digest in recorded.items() if _now(checkpoint / name) != digest]
    return f"{', '.join(changed)}: not as saved" if changed else None


def _now(path: Path) -> str | None:
    return _digest(path) if path.is_file() else None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(event: dict[str, Any]) -> dict[str, str] | None:
    found = event.get("files")
    return {str(name): str(digest) for name, digest in found.items()} if isinstance(found, dict) else None
