"""Ctrl-C and SIGTERM as a request that can be read: once to stop and save, twice to end at once."""

from __future__ import annotations

import signal
from types import TracebackType
from typing import Any


class Interrupt:
    """Counts stop requests while it is entered; restores the handlers that were there before."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, lambda *_: self._noted())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _noted(self) -> None:
        self.count += 1
