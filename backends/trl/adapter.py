"""The port to TRL. Runs in the core's interpreter: imports no framework."""

from __future__ import annotations

from pathlib import Path

from backends.trl import check_native, checks, native
from backends.trl.steps import CADENCE
from orchestrator.backend import Backend, Capabilities, EnvLock, Job, Native
from orchestrator.findings import Finding
from orchestrator.spec import Method, RunSpec

_METHODS: tuple[Method, ...] = ("lora", "qlora", "full")


class Trl:
    """TRL behind the port."""

    name = "trl"
    summary = "SFT, DPO and GRPO with LoRA, QLoRA or full weights; one process, DDP or FSDP2; CPU or GPU."

    def capabilities(self) -> Capabilities:
        """Every training stage with every method."""
        stages = {"sft": _METHODS, "dpo": _METHODS, "grpo": _METHODS}
        sharding, cadence = ("none", "ddp", "fsdp2"), [f"config.{key}" for key in CADENCE]
        said = {"methods": stages, "sharding": sharding, "cadence": cadence, "keys": check_native.keys(), "tasks": True}
        return Capabilities.model_validate(said)

    def lock(self) -> EnvLock:
        """The pins of the engine's environment."""
        return EnvLock(folder=Path(__file__).parent / "env")

    def check(self, spec: RunSpec, job: Job) -> list[Finding]:
        """Everything wrong or unwise, all at once."""
        return checks.findings(spec, job)

    def materialize(self, spec: RunSpec, job: Job) -> Native:
        """The argument file, the launch, the artifact promised."""
        return native.materialize(spec, job)


BACKEND: Backend = Trl()
