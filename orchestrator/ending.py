"""How an attempt ended: what its events, its exit code and its log say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator import harness, launchers
from orchestrator.errors import HandoffError, PostTrainError, RunInterrupted, StorageError, WorkerFailed
from orchestrator.events import EventReader
from orchestrator.leash import EXIT_STOPPED


@dataclass
class Ending:
    """How an attempt ended.

    Attributes:
        pid: of the engine's first process.
        code: negative for a signal; torchrun's is 1 whatever its ranks ended with.
        killed: we ended it, because somebody asked twice.
        done, stopped, saving: what its last state says.
        error: the first error event.
        begun: everything was loaded, and training began.
        trained: a step was made.
        objection: what was wrong with the files that went in when they had been loaded; the attempt was ended for it.
    """

    attempt: Path
    pid: int = 0
    code: int = -1
    killed: bool = False
    done: bool = False
    stopped: bool = False
    error: dict[str, Any] | None = None
    metrics: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    handoffs: list[dict[str, Any]] = field(default_factory=list)
    begun: bool = False
    trained: bool = False
    objection: PostTrainError | None = None
    saving: bool = False

    @property
    def stumble(self) -> str | None:
        """`engine` or `hub`, where that and not a check of ours ended the attempt before its first step."""
        kind = str(self.error.get("code")).partition(".")[0] if self.error and not self.trained else None
        return kind if kind in ("engine", "hub") else None

    def note(self, event: dict[str, Any]) -> None:
        """Remember what the manifest keeps of an event."""
        kind = event["type"]
        self.trained = self.trained or kind == "step"
        if kind in ("step", "result") and isinstance(event.get("metrics"), dict):
            self.metrics |= event["metrics"]
        elif kind == "handoff":
            self.handoffs.append({key: value for key, value in event.items() if key not in ("type", "time")})
        elif kind == "warning":
            self.warnings.append(f"{event.get('code', 'warning')}: {event.get('message', '')}")
        elif kind == "error" and self.error is None:
            self.error = event
        elif kind == "state":
            self.pid = event.get("pid", self.pid)
            self.begun = self.begun or event.get("state") == "training"
            self.saving = event.get("state") == "saving"
            self.done, self.stopped = event.get("state") == "done", event.get("state") == "stopped"

    def check(self) -> None:
        """Accept only an end that says so itself.

        Raises:
            RunInterrupted: it stopped on request.
            StorageError: the disk was full.
            HandoffError: the model taken up is not the one that was made.
            DataError, HandoffError: what went in was changed while it was loaded.
            WorkerFailed: anything else.
        """
        if self.objection:
            raise self.objection
        if self.killed or self.stopped or self.code == EXIT_STOPPED:
            raise RunInterrupted("stopped; nothing that was saved is lost")
        if self.error:
            self._raise_reported(self.error)
        if self.code != 0 or not self.done:
            raise WorkerFailed(self._silent(), where=str(self.attempt), details=tail(self.attempt / "stderr.log"))

    def _raise_reported(self, error: dict[str, Any]) -> None:
        code = str(error.get("code"))
        kind = {"disk.full": StorageError}.get(code, HandoffError if code.startswith("handoff.") else WorkerFailed)
        log = f"full log: {self.attempt / 'stderr.log'}"
        killed = self._killed() if code == harness.LOST else None
        raise kind(
            killed or str(error.get("message")),
            where=code,
            why=error.get("why"),
            fix=error.get("fix"),
            details=[log],
        )

    def _killed(self) -> str | None:
        """Of several ranks only the launcher knows which one it was, and the signal."""
        return launchers.killed("\n".join(tail(self.attempt / "stderr.log", 40)))

    def _silent(self) -> str:
        if killed := self._killed():
            return killed
        if self.code == 0:
            return "the worker exited with code 0 without saying that it is done"
        if self.code in (-9, 137):
            return "the worker was killed (signal 9) without a word; the kernel does that when memory runs out"
        how = f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"
        return f"the worker ended with {how} and gave no reason"


def logged(attempts: Iterable[Path]) -> dict[str, Any]:
    """The last metrics of the steps of earlier attempts: one that resumes at the last step logs none."""
    metrics: dict[str, Any] = {}
    for attempt in attempts:
        for event in EventReader(attempt / "events.jsonl").new():
            metrics |= event.get("metrics", {}) if event["type"] == "step" else {}
    return metrics


def tail(path: Path, lines: int = 8) -> list[str]:
    """The last lines of a log."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 16_384))
        return file.read().decode("utf-8", "replace").rstrip().splitlines()[-lines:]
