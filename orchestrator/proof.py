"""What a smoke run proved, read from what its worker reported and left on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestrator import smoke
from orchestrator.errors import WorkerFailed
from orchestrator.events import EventReader
from orchestrator.spec import Part
from orchestrator.store import Run


class Proof(Part):
    """Two steps and a checkpoint, or what there was of them.

    Attributes:
        steps: optimizer steps done.
        checkpoint: the checkpoint of the last of them; None when there is none.
        bytes: its size.
        seconds: time of a step after the first, which warms up; None when no attempt did two.
        peak_memory: bytes that the first rank held at most, its final save included; None where no worker told.
        unchanged: the adapter is as it was made, because no reward differed within a group.
    """

    steps: int
    checkpoint: Path | None
    bytes: int
    seconds: float | None
    peak_memory: int | None
    unchanged: bool


def is_smoke(run: Run) -> bool:
    """Whether a run trained as a smoke run."""
    return run.manifest.origins.get("training.max_steps") == smoke.FLAG


def read(run: Run) -> Proof:
    """What the events of all attempts say."""
    attempts = [list(EventReader(path).new()) for path in sorted(run.path.glob("attempts/*/events.jsonl"))]
    times, events = [_times(one) for one in attempts], [event for one in attempts for event in one]
    saved = [Path(str(e.get("path"))) for e in events if e["type"] == "checkpoint" and e.get("step") == smoke.STEPS]
    checkpoint = next((path for path in saved if path.exists()), None)
    memory = [e["peak_memory"] for e in events if isinstance(e.get("peak_memory"), int)]
    return Proof(
        steps=max((step for one in times for step in one), default=0),
        checkpoint=checkpoint,
        bytes=_size(checkpoint) if checkpoint else 0,
        seconds=next((s for s in map(_seconds, times) if s is not None), None),
        peak_memory=max(memory, default=None),
        unchanged=run.manifest.metrics.get("adapted") == 0,
    )


def require(run: Run) -> Proof:
    """What a run proved.

    Raises:
        WorkerFailed: not what a smoke run is for, although it came to its end.
    """
    found = read(run)
    if found.steps < smoke.STEPS or found.checkpoint is None:
        left = "no checkpoint" if found.checkpoint is None else "its checkpoint"
        raise WorkerFailed(
            f"the smoke run proves nothing: {found.steps} of {smoke.STEPS} steps were reported, and {left} at step 2",
            where=str(run.path),
            why="a long run of this recipe may not get that far either",
            fix=f"look into {run.path / 'attempts'}",
        )
    return found


def _times(events: list[dict[str, Any]]) -> dict[int, float]:
    found = [e for e in events if e["type"] == "step" and type(e.get("step")) is int]
    return {e["step"]: e["time"] for e in found if isinstance(e.get("time"), int | float)}


def _seconds(times: dict[int, float]) -> float | None:
    """Of one attempt: an interruption between two steps is no training."""
    first, last = min(times, default=0), max(times, default=0)
    return (times[last] - times[first]) / (last - first) if last > first else None


def _size(path: Path) -> int:
    return sum(p.stat().st_size for p in (path.rglob("*") if path.is_dir() else [path]) if p.is_file())
