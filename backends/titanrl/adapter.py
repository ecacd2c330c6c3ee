"""The port to TitanRL. Runs in the core's interpreter: imports no framework."""

from __future__ import annotations

from pathlib import Path

from backends.titanrl import checks, native
from orchestrator.backend import Backend, Capabilities, EnvLock, Job, Native
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


class TitanRl:
    """TitanRL behind the port."""

    name = "titanrl"
    summary = "GRPO on a task with full weights: Monarch actors, vLLM, FSDP2 and tensor parallelism; CPU or GPU."

    def capabilities(self) -> Capabilities:
        """GRPO, on tasks alone; how the model is spread is said in TitanRL's own words."""
        said = {"methods": {"grpo": ("full",)}, "tasks": True, "reward_functions": False}
        return Capabilities.model_validate(said)

    def lock(self) -> EnvLock:
        """The pins of the engine's environment."""
        return EnvLock(folder=Path(__file__).parent / "env")

    def check(self, spec: RunSpec, job: Job) -> list[Finding]:
        """Everything wrong or unwise, all at once."""
        return checks.findings(spec, job)

    def materialize(self, spec: RunSpec, job: Job) -> Native:
        """The config registry, the launch, the artifact promised."""
        return native.materialize(spec, job)


BACKEND: Backend = TitanRl()
