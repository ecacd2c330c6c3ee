"""Ties a worker to the process that owns its run. Standard library only: workers import it.

The owner holds an exclusive lock on `lock` in the run folder for as long as it lives, and asks for a stop by creating
`stop` in the attempt folder. A worker on the leash looks at both: an owner that was killed, even by SIGKILL, never
leaves a trainer behind that goes on writing into the run. Of several ranks each looks at the others, too: where one
was killed, the rest would wait for it in vain.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.alive import Sign, held, silent

EXIT_STOPPED = 75
"""Exit code of a worker that stopped because it was asked to (EX_TEMPFAIL: try again)."""

RANK = "rank-"
"""How a worker's sign of life begins; its number follows."""

_PERIOD = 0.5


class Leash:
    """Watches for a stop request, a signal, the owner's death, or another rank's.

    Args:
        run_dir: the run's folder.
        attempt_dir: the attempt's folder.
        rank: this process among the attempt's.
        on_stop: called from the watching thread before the process exits because a stop is wanted.
        on_loss: the same, with the signs of ranks that died without a word, because of those.
    """

    def __init__(
        self,
        run_dir: Path,
        attempt_dir: Path,
        rank: int = 0,
        *,
        on_stop: Callable[[], None] | None = None,
        on_loss: Callable[[list[str]], None] | None = None,
    ) -> None:
        self._lock, self._attempt, self._rank = run_dir / "lock", attempt_dir, rank
        self._on_stop, self._on_loss = on_stop or (lambda: None), on_loss or (lambda _: None)
        self._asked, self._deferred = threading.Event(), False
        self._sign: Sign | None = None

    def start(self) -> None:
        """Begin to watch; SIGTERM and SIGINT count as a stop request. Exits at once where a stop is wanted already."""
        self.take_signals()
        self._sign = Sign(self._attempt, f"{RANK}{self._rank}")
        atexit.register(self._sign.withdraw)
        if self.wanted:  # one that started late, when another attempt may be at work already
            self._exit(EXIT_STOPPED, self._stopped)
        threading.Thread(target=self._watch, name="leash", daemon=True).start()

    def take_signals(self) -> None:
        """SIGTERM and SIGINT ask for a stop; an engine may have put handlers of its own in their place."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._asked.set())

    @property
    def wanted(self) -> bool:
        """Whether a stop is wanted."""
        return self._asked.is_set() or (self._attempt / "stop").exists() or not held(self._lock)

    def defer(self) -> None:
        """From now on the work itself looks whether a stop is wanted: training saves a checkpoint first."""
        self._deferred = True

    def fail(self) -> None:
        """This process ends with an error: its sign stays, so that no other rank waits for it."""
        if self._sign is not None:
            atexit.unregister(self._sign.withdraw)

    @property
    def lost(self) -> list[str]:
        """Signs of ranks that died without a word."""
        return [name for name in silent(self._attempt) if name.startswith(RANK)]

    def _watch(self) -> None:
        while True:
            time.sleep(_PERIOD)
            if lost := self.lost:
                self._exit(1, lambda: self._on_loss(lost))
            if self.wanted and not self._deferred:
                self._exit(EXIT_STOPPED, self._stopped)

    def _stopped(self) -> None:
        self._on_stop()
        if self._sign is not None:
            self._sign.withdraw()

    def _exit(self, code: int, last: Callable[[], None]) -> None:
        try:
            last()
        finally:
            os._exit(code)  # whatever the disk says
