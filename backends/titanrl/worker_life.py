"""Whether a run is alive: what it reported, what became of its processes. TitanRL waits for a dead actor forever."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path
from typing import Any

from backends.titanrl.worker_samples import Samples
from orchestrator.errors import PostTrainError
from orchestrator.harness import Harness

_NOT_AGAIN = "TitanRL has no second try for an actor"
_RAISED = re.compile(r"[A-Za-z_.]*(?:Error|Exception|Interrupt|Exit)\b")
"""A line of a traceback that says what was raised."""
_PERIOD = 1.0
_GRACE = 5
"""Looks in a row at which a process must be gone before that counts: TitanRL ends its actors itself at the end."""


class Life:
    """Steps as events, and a thread that ends a run which can't go on."""

    def __init__(self) -> None:
        self._harness: Harness | None = None
        self._samples: Samples | None = None
        self._total, self._limit, self._last = 0, 0.0, 0.0
        self._seen: dict[int, str] = {}
        self._watching = False

    def start(self, harness: Harness, total: int, minutes: float, samples: Samples | None = None) -> None:
        """Begin to watch. `minutes`: how long a step may take; `samples`: where episodes become pages."""
        self._harness, self._total, self._limit, self._samples = harness, total, 60 * minutes, samples
        self._last, self._watching = time.monotonic(), True
        threading.Thread(target=self._watch, name="life", daemon=True).start()

    def failed(self, error: PostTrainError) -> None:
        """The task failed. TitanRL would drop the group, log a line and go on."""
        message = f"{error.where}: {error.what}" if error.where else error.what
        self._give_up("task.failed", "; ".join((message, *error.details)), error.why or "", error.fix)

    def fault(self, failure: Any) -> None:
        """An actor failed. Monarch would send this process a Ctrl-C, and the run would seem stopped by its user."""
        lines = [line.strip() for line in str(failure.report()).splitlines() if line.strip()]
        raised = [line for line in lines if _RAISED.match(line)]
        self._give_up("titanrl.actor", f"an actor of the run failed: {(raised or lines)[-1]}", _NOT_AGAIN)

    def end(self) -> None:
        """Training is over: actors may go."""
        self._watching = False

    def reached(self, step: int, numbers: dict[str, Any], *, validation: bool) -> None:
        """A step or a validation is done."""
        self._last = time.monotonic()
        if self._harness is None:
            return
        shown = {k: v for k, v in numbers.items() if k.startswith("validation") or not validation}
        self._harness.events.emit("step", step=step, total=self._total, metrics=shown)
        if self._samples:
            self._samples.write(step, numbers, validation=validation)
        if step >= self._total:
            self.end()
        elif not validation:
            self._seen = _children()

    def _watch(self) -> None:
        missing = 0
        while self._watching:
            time.sleep(_PERIOD)
            gone = set(self._seen) - set(_children())
            missing = missing + 1 if gone else 0
            if missing >= _GRACE:
                names = ", ".join(f"{self._seen[pid]} ({pid})" for pid in sorted(gone))
                self._give_up("titanrl.actor", f"a process of the run died: {names}", "its memory ran out, or a crash")
            if time.monotonic() - self._last > self._limit:
                minutes = self._limit / 60
                self._give_up("titanrl.stalled", f"no step for {minutes:g} minutes", "native.stall_minutes ends a wait")

    def _give_up(self, code: str, message: str, why: str, fix: str | None = None) -> None:
        if not self._watching or self._harness is None:
            return
        fix = fix or "read stderr.log, then resume"
        self._harness.events.emit("error", code=code, message=message, why=why, fix=fix)
        os._exit(1)  # the keeper ends whatever processes are left


def _children() -> dict[int, str]:
    """pid -> name of this process's children that run."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            name, state, parent = _status(entry)
            if parent == os.getpid() and state != "Z":
                found[int(entry.name)] = name
    return found


def _status(process: Path) -> tuple[str, str, int]:
    """Name, state and parent of a process; nothing of one that is gone."""
    try:
        head, _, tail = (process / "stat").read_text(encoding="utf-8").rpartition(")")
    except OSError:
        return "", "", 0
    state, parent = tail.split()[:2]
    return head.partition("(")[2], state, int(parent)


LIFE = Life()
"""One run a process."""
