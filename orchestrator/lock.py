"""One owner a run: an exclusive lock on a file, held for as long as the owning process lives."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.atomic import storage
from orchestrator.errors import RunBusy

_PATIENCE = 3.0
"""Seconds to wait: a worker whose owner died lets go within a second."""


@contextmanager
def owned(run_dir: Path) -> Iterator[None]:
    """Own a run.

    Raises:
        RunBusy: another process owns it.
    """
    path = run_dir / "lock"
    with storage(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _take(handle, path)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def is_owned(run_dir: Path) -> bool:
    """Whether a living process owns the run."""
    try:
        handle = os.open(run_dir / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _take(handle: int, path: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                owner = os.pread(handle, 32, 0).decode(errors="replace") or "unknown"
                raise RunBusy(
                    f"another process (pid {owner}) is working on this run",
                    where=str(path.parent),
                    why="two writers would damage its checkpoints",
                    fix="wait for it to end, or stop it with Ctrl-C where it runs",
                ) from None
            time.sleep(0.1)
