"""One process."""

from __future__ import annotations

from pathlib import Path

from orchestrator.backend import LaunchSpec


def argv(python: Path, launch: LaunchSpec) -> tuple[str, ...]:
    """`python -m module args`."""
    return (str(python), "-m", launch.module, *launch.args)
