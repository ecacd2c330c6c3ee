"""LaunchSpec -> argv. One file a way of starting ranks."""

from __future__ import annotations

from pathlib import Path

from orchestrator.backend import LaunchSpec
from orchestrator.launchers import local, torchrun


def argv(python: Path, launch: LaunchSpec) -> tuple[str, ...]:
    """The command of a stage: one process directly, several through torchrun."""
    return torchrun.argv(python, launch) if launch.processes > 1 else local.argv(python, launch)


def killed(log: str) -> str | None:
    """Which of several ranks a signal ended, out of the last lines of the worker's log; None when none was."""
    return torchrun.killed(log)
