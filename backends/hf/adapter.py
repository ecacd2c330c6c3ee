"""The hf backend behind the port: adapter merge and model comparison."""

from __future__ import annotations

from pathlib import Path

from backends.hf import checks, native
from orchestrator.backend import Capabilities, EnvLock, Expected, Job, LaunchSpec, Native
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


class HfBackend:
    """Merges an adapter into its base, compares models on held-out items or a task, and verifies one."""

    name = "hf"
    summary = "Adapter merge and evaluation with transformers and PEFT."

    def capabilities(self) -> Capabilities:
        return Capabilities(methods={"merge": (), "eval": (), "verify": ()}, tasks=True)

    def lock(self) -> EnvLock:
        return EnvLock(folder=Path(__file__).parent / "env")

    def check(self, spec: RunSpec, job: Job) -> list[Finding]:
        return checks.check(spec, job)

    def materialize(self, spec: RunSpec, job: Job) -> Native:
        file = native.file(spec, job)
        threads = str(spec.hardware.threads or job.machine.cores)
        launch = LaunchSpec(
            module="backends.hf.worker", args=(str(job.run_dir / file.path),), env={"OMP_NUM_THREADS": threads}
        )
        expected = (
            Expected(kind="model", path="artifacts/model")
            if spec.stage == "merge"
            else Expected(kind="report", path="artifacts/report")
        )
        return Native(files=(file,), launch=launch, expected=(expected,))


BACKEND = HfBackend()
