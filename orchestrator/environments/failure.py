"""What a failed installation step tells a user."""

from __future__ import annotations

from pathlib import Path

from orchestrator.environments.cache import VARIABLE
from orchestrator.environments.step import Step, header
from orchestrator.errors import EnvironmentMissing

_SHOWN = 12
_REASONS = (
    (("No space left",), "the disk is full", f"free some space, or export {VARIABLE}=FOLDER on another disk"),
    (
        ("Hash mismatch", "DO NOT MATCH THE HASHES"),
        "a downloaded file is not the one that was locked, so it was not installed",
        "find out what your mirror serves under that name; nothing of it was installed",
    ),
    (
        ("error sending request", "client error", "Connection", "NewConnectionError", "timed out", "dns error"),
        "a package source can't be reached",
        "check the network, point pip at your mirror (pip config set global.index-url ...), or, when it was torch's own"
        " source, give --find-links FOLDER_OR_PAGE with its wheel; then: post-train backends install {name}",
    ),
    (
        ("No matching distribution", "no wheels", "No solution found", "has no usable wheels"),
        "no package source has a locked version for this Python and platform",
        "post-train doctor shows the Python in use; take one from 3.11 on that the packages have wheels for",
    ),
)


def failed(name: str, step: Step, log: Path) -> EnvironmentMissing:
    """The error for a step that ended badly, with the tool's last lines."""
    said = log.read_text(encoding="utf-8", errors="replace").rpartition(header(step))[2].splitlines()
    shown = [line.strip()[:200] for line in said if line.strip()][-_SHOWN:]
    why, fix = next(
        ((why, fix) for needles, why, fix in _REASONS if any(n in line for n in needles for line in said)),
        ("the environment is not usable without it", "read the log, then: post-train backends install {name}"),
    )
    return EnvironmentMissing(
        f"{step.label}: failed", where=str(log), why=why, fix=fix.format(name=name), details=shown
    )
