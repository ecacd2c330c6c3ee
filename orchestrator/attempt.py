"""One attempt's process, from start to end: its events as they come, a stop when asked, what it left behind."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator import harness, process
from orchestrator.atomic import storage
from orchestrator.errors import EnvironmentMissing, HandoffError, RunInterrupted, StorageError, WorkerFailed
from orchestrator.events import EventReader
from orchestrator.interrupt import Interrupt
from orchestrator.leash import EXIT_STOPPED
from orchestrator.plan import RunPlan
from orchestrator.progress import Progress
from orchestrator.rundir import RunDir

_PERIOD = 0.1


@dataclass
class Ending:
    """How an attempt ended. `code` is negative for a signal; torchrun's is 1 whatever its ranks ended with."""

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

    def note(self, event: dict[str, Any]) -> None:
        """Remember what the manifest keeps of an event."""
        kind = event["type"]
        if kind in ("step", "result") and isinstance(event.get("metrics"), dict):
            self.metrics |= event["metrics"]
        elif kind == "handoff":
            self.handoffs.append({key: value for key, value in event.items() if key not in ("type", "time")})
        elif kind == "warning":
            self.warnings.append(f"{event.get('code', 'warning')}: {event.get('message', '')}")
        elif kind == "error" and self.error is None:
            self.error = event
        elif kind == "state":
            self.done, self.stopped = event.get("state") == "done", event.get("state") == "stopped"

    def check(self) -> None:
        """Accept only an end that says so itself.

        Raises:
            RunInterrupted: it stopped on request.
            StorageError: the disk was full.
            HandoffError: the model taken up is not the one that was made.
            WorkerFailed: anything else.
        """
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
        raise kind(
            str(error.get("message")),
            where=str(error.get("code")),
            why=error.get("why"),
            fix=error.get("fix"),
            details=[log],
        )

    def _silent(self) -> str:
        if self.code == 0:
            return "the worker exited with code 0 without saying that it is done"
        if self.code in (-9, 137):
            return "the worker was killed (signal 9) without a word; the kernel does that when memory runs out"
        how = f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"
        return f"the worker ended with {how} and gave no reason"


def run(plan: RunPlan, number: int, resumed: bool, interrupt: Interrupt, progress: Progress) -> Ending:
    """Start the worker of a plan and stay with it until it ends."""
    attempt = RunDir(plan.run_dir).attempt(number)
    with storage(attempt):
        attempt.mkdir(parents=True)
        child = _child(plan, attempt, resumed)
    ending = Ending(attempt, pid=child.pid)
    try:
        with progress.stage(f"{plan.spec.stage} {plan.run_id}"):
            _stay(child, ending, interrupt, progress)
    finally:
        child.kill()
    return ending


def _child(plan: RunPlan, attempt: Path, resumed: bool) -> process.Child:
    if not plan.env.python.exists():
        fix = f"post-train backends install {plan.env.name}"
        raise EnvironmentMissing("the environment's Python is gone", where=str(plan.env.python), fix=fix)
    return process.Child(
        plan.argv,
        cwd=attempt,
        env=process.clean_environment(_variables(plan, attempt, resumed)),
        stdout=attempt / "stdout.log",
        stderr=attempt / "stderr.log",
        mark=harness.ATTEMPT_VARIABLE,
    )


def _variables(plan: RunPlan, attempt: Path, resumed: bool) -> dict[str, str]:
    ours = {harness.RUN_VARIABLE: str(plan.run_dir), harness.ATTEMPT_VARIABLE: str(attempt)}
    path = os.pathsep.join(filter(None, [str(plan.programs), os.environ.get("PATH")]))
    return {"PATH": path, **plan.environment, **ours, **({harness.RESUME_VARIABLE: "1"} if resumed else {})}


def _stay(child: process.Child, ending: Ending, interrupt: Interrupt, progress: Progress) -> None:
    reader, asked = EventReader(ending.attempt / "events.jsonl"), 0
    while True:
        code = child.wait(_PERIOD)
        _take(reader.new(), ending, progress)
        if code is not None:
            ending.code = code
            break
        if interrupt.count > asked:
            asked = interrupt.count
            _stop(child, ending, progress, asked)
    if reader.garbage:
        ending.warnings.append(f"events.garbage: {reader.garbage} lines of the event file were no events")


def _take(events: Iterable[dict[str, Any]], ending: Ending, progress: Progress) -> None:
    for event in events:
        ending.note(event)
        progress.event(event)


def _stop(child: process.Child, ending: Ending, progress: Progress, asked: int) -> None:
    if asked == 1:
        progress.say("stopping after this step and saving a checkpoint; Ctrl-C again ends it at once")
        (ending.attempt / "stop").touch()
    else:
        ending.killed = True
        child.kill()


def tail(path: Path, lines: int = 8) -> list[str]:
    """The last lines of a log."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 16_384))
        return file.read().decode("utf-8", "replace").rstrip().splitlines()[-lines:]
