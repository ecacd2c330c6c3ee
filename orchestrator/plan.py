"""RunPlan: exactly what would be run. `plan` prints it; executing takes the same object."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from orchestrator import findings, harness, launchers
from orchestrator.backend import ModelRef, Native
from orchestrator.envs import EnvRef
from orchestrator.errors import (
    DataError,
    EnvironmentMissing,
    ModelError,
    OutputExists,
    PostTrainError,
    PreflightError,
    StorageError,
)
from orchestrator.findings import Finding
from orchestrator.hardware import Machine
from orchestrator.manifest import Parent
from orchestrator.sizing import Estimate
from orchestrator.spec import Part, RunSpec

_KINDS: dict[str, type[PostTrainError]] = {
    "data": DataError,
    "model": ModelError,
    "env": EnvironmentMissing,
    "output": OutputExists,
    "disk": StorageError,
}


class RunPlan(Part):
    """One stage, ready to start.

    Attributes:
        model: what the stage starts from; `compare`: what an eval compares, oldest first.
        native: the engine's files, launch and promised artifacts; None when errors prevent it.
        reuses: id of a finished run with the same fingerprint and parents that stands in for this one.
        resumes: id of a stopped run with the same fingerprint and parents that goes on instead of this one.
        smoke: it is a smoke run, or belongs to the chain of one.
    """

    run_id: str
    run_dir: Path
    spec: RunSpec
    origins: dict[str, str]
    pipeline: str | None
    parents: tuple[Parent, ...]
    model: ModelRef
    compare: tuple[ModelRef, ...]
    env: EnvRef
    machine: Machine
    native: Native | None
    estimate: Estimate | None
    findings: tuple[Finding, ...]
    identity: dict[str, Any]
    fingerprint: str
    reuses: str | None = None
    resumes: str | None = None
    smoke: bool = False

    @property
    def argv(self) -> tuple[str, ...]:
        """The command that starts the worker."""
        return launchers.argv(self.env.python, self.native.launch) if self.native else ()

    @property
    def programs(self) -> Path:
        """The environment's own programs: they come first on PATH, because an engine may start others by name."""
        return self.env.python.parent

    @property
    def environment(self) -> dict[str, str]:
        """Variables added to the worker's environment."""
        fixed = {
            "PYTHONPATH": str(self.run_dir / "native" / "pythonpath"),
            "PYTHONSAFEPATH": "1",
            "PYTHONUNBUFFERED": "1",
        }
        allowed = {harness.UNTRAINED_VARIABLE: "1"} if self.smoke and self.spec.stage not in ("sft", "dpo") else {}
        return {**fixed, **allowed, **self._proof, **(self.native.launch.env if self.native else {})}

    @property
    def _proof(self) -> dict[str, str]:
        """What the worker compares its model with; eval has several, each with its probe in the native file."""
        if not self.spec.proof:
            return {harness.UNPROVED_VARIABLE: "1"}
        return {harness.PROBE_VARIABLE: self.model.probe} if self.model.probe and self.spec.stage != "eval" else {}

    @property
    def command(self) -> str:
        """The same command for a shell, to run by hand."""
        variables = [f"{key}={shlex.quote(value)}" for key, value in self.environment.items()]
        path = f'PATH={shlex.quote(str(self.programs))}:"$PATH"'
        return " ".join([*variables, path, *(shlex.quote(word) for word in self.argv)])


def load_plan(run_dir: Path) -> RunPlan:
    """The plan that a run was started with.

    Raises:
        StorageError: it is missing or damaged.
    """
    path = run_dir / "plan.json"
    try:
        return RunPlan.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StorageError(
            f"the plan can't be read: {str(error).splitlines()[0]}", where=str(path), fix="start a new run"
        ) from None


def refuse(plans: list[RunPlan]) -> None:
    """Stop before anything starts when a plan has errors, naming all of them.

    Raises:
        PreflightError, DataError, ModelError, EnvironmentMissing, OutputExists, StorageError: by the kind of what was
            found.
    """
    if refusal := refusal_of(plans):
        raise refusal


def refusal_of(plans: list[RunPlan]) -> PostTrainError | None:
    """The error that plans would be refused with."""
    wrong = [(plan, finding) for plan in plans for finding in findings.errors(plan.findings)]
    if not wrong:
        return None
    kinds = {_KINDS.get(finding.code.split(".")[0], PreflightError) for _, finding in wrong}
    kind = kinds.pop() if len(kinds) == 1 else PreflightError
    if len(wrong) == 1:
        only = wrong[0][1]
        return kind(only.message, where=only.where, fix=only.fix)
    several = len(plans) > 1
    return kind(f"{len(wrong)} problems; nothing was started", details=[_line(p, f, several) for p, f in wrong])


def _line(plan: RunPlan, finding: Finding, several: bool) -> str:
    stage = f"[{plan.spec.stage}] " if several else ""
    place = f"{finding.where}: " if finding.where else ""
    return f"{stage}{place}{finding.message}" + (f" (fix: {finding.fix})" if finding.fix else "")
