"""Ties a worker to the process that owns its run. Standard library only: workers import it.

The owner holds an exclusive lock on `lock` in the run folder for as long as it lives, and asks for a stop by creating
`stop` in the attempt folder. A worker on the leash looks at both: an owner that was killed, even by SIGKILL, never
leaves a trainer behind that goes on writing into the run.

Every worker shares a lock on `workers` for as long as it lives: whoever resumes a run asks earlier workers to stop and
waits until that lock is free, because a worker that was left behind may still be saving its checkpoint.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

EXIT_STOPPED = 75
"""Exit code of a worker that stopped because it was asked to (EX_TEMPFAIL: try again)."""

WORKERS = "workers"
"""File in the run folder that every living worker holds a shared lock on."""

_PERIOD = 0.5


class Leash:
    """Watches for a stop request, a signal, or the owner's death.

    Args:
        run_dir: the run's folder.
        attempt_dir: the attempt's folder.
        on_stop: called once, from the watching thread, when a stop is wanted; by default the process exits at once.
    """

    def __init__(self, run_dir: Path, attempt_dir: Path, on_stop: Callable[[], None] | None = None) -> None:
        self._lock, self._stop = run_dir / "lock", attempt_dir / "stop"
        self._on_stop = on_stop or (lambda: os._exit(EXIT_STOPPED))
        self._wanted = threading.Event()
        self._alive: int | None = None

    def start(self) -> None:
        """Begin to watch; SIGTERM and SIGINT count as a stop request."""
        self.take_signals()
        self._alive = os.open(self._lock.with_name(WORKERS), os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self._alive, fcntl.LOCK_SH)
        # a data loader forked from here may outlive a killed worker; it saves nothing that a resume should wait for
        os.register_at_fork(after_in_child=self._let_go)
        threading.Thread(target=self._watch, name="leash", daemon=True).start()

    def take_signals(self) -> None:
        """SIGTERM and SIGINT ask for a stop; an engine may have put handlers of its own in their place."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._wanted.set())

    @property
    def wanted(self) -> bool:
        """Whether a stop is wanted."""
        return self._wanted.is_set() or self._stop.exists() or not held(self._lock)

    def _let_go(self) -> None:
        """Once in a line of forks: the number may be another file's in the next."""
        if self._alive is not None:
            os.close(self._alive)
            self._alive = None

    def defer(self, on_stop: Callable[[], None]) -> None:
        """From now on call this instead: training saves a checkpoint first."""
        self._on_stop = on_stop

    def _watch(self) -> None:
        while not self._wanted.wait(_PERIOD):
            if self.wanted:
                self._wanted.set()
        self._on_stop()


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
