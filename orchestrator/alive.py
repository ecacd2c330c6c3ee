"""Signs of life: a file for each process of an attempt, locked for as long as it lives. Standard library only.

A process that ends with a word withdraws its sign: a dot before its name. One that nobody holds is of one killed.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

FOLDER = "alive"
"""In an attempt's folder."""

KEEPER = "keeper"
"""Held from before the first process starts until none is left."""


class Sign:
    """One process's sign; what it forks does not hold it, because a data loader may outlive its trainer."""

    def __init__(self, attempt: Path, name: str) -> None:
        folder = attempt / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        self._path, beside = folder / name, folder / f".{name}.{os.getpid()}"
        self._handle: int | None = os.open(beside, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self._handle, fcntl.LOCK_EX)
        beside.rename(self._path)  # only now: nobody ever sees it unlocked
        os.register_at_fork(after_in_child=self.close)

    @property
    def handles(self) -> tuple[int, ...]:
        """The open file; a process that inherits it holds the sign as well."""
        return () if self._handle is None else (self._handle,)

    def withdraw(self) -> None:
        """This process ends, and says so."""
        if self._handle is not None:
            self._path.rename(self._path.with_name(f".{self._path.name}"))
            self.close()

    def close(self) -> None:
        """Once in a line of forks: the number may be another file's in the next."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def living(attempt: Path) -> list[str]:
    """Names of the processes that live."""
    return [sign.name for sign in _signs(attempt) if held(sign)]


def silent(attempt: Path) -> list[str]:
    """Names of those that ended without a word."""
    return [sign.name for sign in _signs(attempt) if not held(sign) and sign.exists()]


def begun(attempt: Path, name: str) -> bool:
    """Whether a process ever gave a sign whose name begins so."""
    return any((attempt / FOLDER).glob(f"*{name}*"))


def held(path: Path) -> bool:
    """Whether a living process holds the lock on a file."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _signs(attempt: Path) -> list[Path]:
    """Those that count: the others are still being made, or withdrawn."""
    return sorted(path for path in (attempt / FOLDER).glob("*") if not path.name.startswith("."))
