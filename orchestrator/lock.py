"""One owner a run: an exclusive lock on a file, held for as long as the owning process lives."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.alive import FOLDER, held, living
from orchestrator.atomic import storage
from orchestrator.errors import RunBusy

_PATIENCE = 3.0
"""Seconds to wait for a lock that is only being looked at."""


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


def wait_for_workers(run_dir: Path, say: Callable[[str], None], patience: float = 120.0) -> None:
    """Wait until no worker of an earlier attempt is alive.

    Args:
        say: told when it takes longer than a moment.
        patience: seconds.

    Raises:
        RunBusy: one is still there.
    """
    began, told = time.monotonic(), False
    while left := _living(run_dir):
        told = told or _tell(say, time.monotonic() - began)
        if time.monotonic() - began > patience:
            raise RunBusy(
                "a worker of an earlier attempt does not stop",
                where=str(run_dir),
                why="two writers would damage its checkpoints",
                fix=f"end the process that has this file open: lsof {left[0]}",
            )
        time.sleep(0.1)


def _living(run_dir: Path) -> list[Path]:
    """Signs of life of all attempts."""
    attempts = sorted((run_dir / "attempts").glob("*"))
    return [attempt / FOLDER / name for attempt in attempts for name in living(attempt)]


def _tell(say: Callable[[str], None], waited: float) -> bool:
    if waited > 1:
        say("an earlier worker is still saving its checkpoint; waiting for it to stop")
    return waited > 1


def is_owned(run_dir: Path) -> bool:
    """Whether a living process owns the run."""
    return held(run_dir / "lock")


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
