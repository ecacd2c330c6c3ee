"""Events: one JSON object a line, written by a worker, read by the runner. Standard library only: workers import it.

Every event has `type` and `time` (seconds since the epoch). The types and their fields:

    state       state: starting | loading | training | saving | evaluating | done | stopped; total: steps, when known;
                pid: of the engine's first process, when it starts
    doing       what: the part of a state that takes its time, in words, e.g. `reading the rows`
    step        step, total, metrics {name: number}; peak_memory: bytes of this rank so far
    checkpoint  step, path, peak_memory; files {name: sha256}, where the worker digests what it saved
    sample      step, and the texts worth reading
    warning     code, message
    error       code, message, why, fix     the reason of the failure that follows
    handoff     place, probe, difference, tolerance, mean, mean_tolerance     a model answers as where it was made
    result      metrics {name: number}      final numbers of the stage; peak_memory
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EVENT_TYPES = frozenset({"state", "doing", "step", "checkpoint", "sample", "handoff", "warning", "error", "result"})


class EventWriter:
    """Appends events to a file; one line is one write, so that a kill tears at most the last line."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def emit(self, type_: str, **fields: Any) -> None:
        """Write one event; without a path (a rank other than 0) nothing is written."""
        if self._path is None:
            return
        line = json.dumps({"type": type_, "time": time.time(), **_finite(fields)}, ensure_ascii=False, default=str)
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, line.encode("utf-8", "replace") + b"\n")
        finally:
            os.close(handle)


class EventReader:
    """Reads what was appended since the last look; counts lines that are no event."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset, self.garbage = path, 0, 0

    def new(self) -> Iterator[dict[str, Any]]:
        """Events that are complete by now, in order."""
        for line in self._complete_lines():
            event = parse(line)
            if event is None:
                self.garbage += 1
            else:
                yield event

    def _complete_lines(self) -> list[bytes]:
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._offset)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._offset += len(whole) + len(newline)
        return whole.split(b"\n") if newline else []


def parse(line: bytes) -> dict[str, Any] | None:
    """One line as an event, or None when it is something else."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(event, dict) and isinstance(event.get("type"), str) and event["type"] in EVENT_TYPES
    return _finite(event) if known and isinstance(event.get("metrics", {}), dict) else None


def _finite(value: Any) -> Any:
    """NaN and infinity are no JSON: write them as text, so that they are seen and not lost."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
