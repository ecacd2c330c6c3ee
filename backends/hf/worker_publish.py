"""An artifact appears whole or not at all: it is written beside its place and renamed at the end."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from orchestrator.harness import WorkError


def begin(output: Path, needed: int = 0) -> Path:
    """An empty folder to write into.

    Args:
        needed: bytes that will be written.

    Raises:
        WorkError: the artifact exists already, or the disk has no room for it.
    """
    if output.exists():
        text = f"{output} exists already; it is never overwritten, and never taken for the new result"
        raise WorkError("output.exists", text, fix="start a new run, or move the folder away")
    partial = output.with_name(f".partial-{output.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    free = shutil.disk_usage(partial).free
    if free < needed:
        text = f"{output} needs {needed / 1e9:.1f} GB and the disk has {free / 1e9:.1f} GB free"
        raise WorkError("disk.full", text, fix="free some space, then start again")
    return partial


def publish(partial: Path, output: Path) -> None:
    """Make the folder durable, then give it its name."""
    for path in [*partial.rglob("*"), partial]:
        _sync(path)
    partial.rename(output)
    _sync(output.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
