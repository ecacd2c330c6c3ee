"""One installer at a time for an environment folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator import process
from orchestrator.environments.cache import VARIABLE
from orchestrator.errors import StorageError

_REMIND = 30.0
"""Seconds between lines while waiting."""


@contextmanager
def claimed(env: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Own an environment folder, after waiting for whoever owns it now; gives the lock's file descriptor.

    A child that inherits the descriptor keeps the claim even when its parent is killed, so that nobody wipes a folder
    which an orphaned installer still writes to.

    Raises:
        StorageError: the cache folder can't be written.
    """
    handle = _open(env.with_name(f".{env.name}.lock"))
    try:
        _wait(handle, say)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield handle
    finally:
        os.close(handle)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        fix = f"name a folder that can be written: export {VARIABLE}=FOLDER"
        raise StorageError(f"can't write the cache: {error.strerror}", where=str(path.parent), fix=fix) from error


def _wait(handle: int, say: Callable[[str], None]) -> None:
    waited = 0.0
    while not _taken(handle):
        if waited % _REMIND == 0:
            owner = os.pread(handle, 32, 0).decode(errors="replace") or "unknown"
            say(f"another process (pid {owner}) is installing this environment; waiting for it ({waited:.0f} s)")
        process.pause(0.5)
        waited += 0.5


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
