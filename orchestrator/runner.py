"""The story of a run: environment -> folder and manifest -> worker and events -> artifacts -> manifest."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator import artifacts, atomic, attempt, blame, envs, inputs, manifest, provenance, registry, sealed, taken
from orchestrator.ending import Ending
from orchestrator.errors import (
    DataError,
    HandoffError,
    PostTrainError,
    RunInterrupted,
    StorageError,
    UsageError,
    WorkerFailed,
)
from orchestrator.harness import PROBE_FILE
from orchestrator.interrupt import Interrupt
from orchestrator.lock import owned, wait_for_workers
from orchestrator.manifest import Attempt, Failure, Manifest, Parent
from orchestrator.plan import RunPlan, load_plan
from orchestrator.progress import Progress
from orchestrator.rundir import RunDir
from orchestrator.store import Run, Store, named


@dataclass
class Runner:
    """Executes plans, exactly as planned.

    Attributes:
        asked_to_stop: somebody asked during an attempt, which may have come to its end all the same.
    """

    store: Store
    progress: Progress
    say: Callable[[str], None]
    asked_to_stop: bool = False

    def start(self, plan: RunPlan) -> Run:
        """Execute a plan from its beginning.

        Raises:
            RunInterrupted, WorkerFailed, HandoffError, StorageError, EnvironmentMissing, OutputExists.
        """
        self._environment(plan)
        folder, record = RunDir(plan.run_dir), self._record(plan, taken.require_as_recorded(plan, self.say))
        folder.create()
        with owned(plan.run_dir):
            self._write(folder, plan)  # first: whatever has a manifest can be resumed
            manifest.write(plan.run_dir, record)
            self.store.register(plan.run_dir)
            return self._attempt(plan, record, resumed=False)

    def resume(self, run: Run) -> Run:
        """Go on with a run that stopped, from its newest complete checkpoint.

        Raises:
            UsageError: it is finished. Otherwise as `start`.
        """
        with owned(run.path):
            record = manifest.read(run.path)  # now that nobody else can change it
            if record.state == "SUCCEEDED":
                raise UsageError(f"{run.id} is finished; there is nothing to resume", fix="start a new run")
            plan = load_plan(run.path)
            sealed.require_as_planned(plan, record)
            self._environment(plan)
            taken.require_as_recorded(plan, self.say)
            folder = RunDir(run.path)
            folder.recall()
            wait_for_workers(run.path, self.say)
            folder.link_packages()
            folder.discard(plan.native.expected if plan.native else ())
            return self._attempt(plan, _reopened(record), resumed=True)

    def _environment(self, plan: RunPlan) -> None:
        lock = registry.load(plan.spec.backend).lock()
        if lock is not None and not plan.env.ready and plan.env.variant != "given":
            envs.install(lock, plan.env.name, plan.env.variant, say=self.say)

    def _record(self, plan: RunPlan, parents: tuple[Parent, ...]) -> Manifest:
        environment = {"backend": plan.spec.backend, "variant": plan.env.variant, "key": plan.env.key}
        return Manifest(
            id=plan.run_id,
            state="RUNNING",
            created=manifest.now(),
            updated=manifest.now(),
            spec=plan.spec,
            start=plan.model,
            origins=plan.origins,
            fingerprint=plan.fingerprint,
            plan=sealed.digest(plan),
            identity=plan.identity,
            pipeline=plan.pipeline,
            parents=parents,
            data=tuple(inputs.data_parents(plan.spec, plan.identity["inputs"])),
            provenance=provenance.collect(plan.machine, environment | {"packages": plan.env.packages or {}}),
        )

    def _write(self, folder: RunDir, plan: RunPlan) -> None:
        atomic.write_json(plan.run_dir / "plan.json", plan.model_dump(mode="json", by_alias=True))
        atomic.write_json(plan.run_dir / "spec.json", plan.spec.model_dump(mode="json", by_alias=True))
        folder.link_packages()
        for file in plan.native.files if plan.native else ():
            atomic.write_text(plan.run_dir / file.path, file.content)

    def _attempt(self, plan: RunPlan, record: Manifest, *, resumed: bool) -> Run:
        number = len(record.attempts) + 1
        begun = Attempt(number=number, started=time.time(), resumed=resumed)
        record = record.changed(attempts=(*record.attempts, begun))
        manifest.write(plan.run_dir, record)
        with Interrupt() as interrupt:
            ending = attempt.run(plan, number, resumed, interrupt, self.progress, look=lambda: taken.objection(plan))
            self.asked_to_stop = interrupt.count > 0
        return self._finish(plan, record, ending)

    def _finish(self, plan: RunPlan, record: Manifest, ending: Ending) -> Run:
        error: PostTrainError | None = None
        try:
            ending.check()
            if not ending.begun and (changed := taken.objection(plan)):  # merge, eval and verify read till their end
                raise changed
            made = artifacts.collect(plan.run_dir, plan.native.expected if plan.native else (), plan.model)
            record = record.changed(state="SUCCEEDED", artifacts=made)
        except RunInterrupted as stopped:
            self._advise(stopped, plan, ending)
            error, record = stopped, record.changed(state="INTERRUPTED")
        except (WorkerFailed, DataError, HandoffError, StorageError) as failed:
            self._advise(failed, plan, ending)
            error, record = failed, record.changed(state="FAILED", failure=_failure(failed, ending))
        last = record.attempts[-1].model_copy(
            update={"ended": time.time(), "pid": ending.pid, "exit_code": ending.code, "state": record.state}
        )
        record = record.changed(
            attempts=(*record.attempts[:-1], last),
            metrics=ending.metrics,
            warnings=tuple(ending.warnings),
            probe=_probe(plan) if record.state == "SUCCEEDED" else None,
            handoffs=tuple(ending.handoffs),
        )
        self._keep(plan, record)
        if error is not None:
            raise error
        return Run(plan.run_dir, record)

    def _keep(self, plan: RunPlan, record: Manifest) -> None:
        """Write down how an attempt ended; where the disk doesn't take it, the run is one that was cut off."""
        try:
            manifest.write(plan.run_dir, record)
        except StorageError as error:
            error.fix = f"once it can be written: {self._resume(plan)}"
            raise

    def _resume(self, plan: RunPlan) -> str:
        return f"post-train run --resume {named(plan.run_id, self.store.root)}"

    def _advise(self, error: PostTrainError, plan: RunPlan, ending: Ending) -> None:
        """Resume, unless the engine stumbled over a setting: a resumed run keeps those."""
        resume = self._resume(plan)
        if ending.stumble:
            if told := blame.settings(error.what, plan):
                error.details = (*told, *error.details)
                error.fix = "correct the setting and start a new run" if ending.stumble == "engine" else error.fix
            resume = f"mend what it names, then {resume}; for another setting start a new run"
        error.fix = error.fix or resume


def _probe(plan: RunPlan) -> dict[str, Any] | None:
    """What the worker left about the model it made; a backend may leave nothing.

    A merge makes no other model: whoever takes it up is held to what the trainer measured.
    """
    own = plan.run_dir / PROBE_FILE
    made = plan.model.probe if plan.spec.stage == "merge" and plan.spec.proof and not own.is_file() else None
    if made and Path(made).is_file():
        atomic.write_text(own, Path(made).read_text(encoding="utf-8"))
    try:
        read: dict[str, Any] = json.loads(own.read_bytes())
    except FileNotFoundError:
        return None
    return read


def _reopened(record: Manifest) -> Manifest:
    """The record of a run that goes on; an attempt that never ended was cut off with its owner."""
    closed = tuple(a if a.ended else a.model_copy(update={"state": "INTERRUPTED"}) for a in record.attempts)
    return record.changed(state="RUNNING", failure=None, attempts=closed)


def _failure(error: PostTrainError, ending: Ending) -> Failure:
    code = ending.error["code"] if ending.error else type(error).__name__
    return Failure(code=str(code), message=error.what, why=error.why, fix=error.fix)
