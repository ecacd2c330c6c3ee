"""The port to Axolotl. Runs in the core's interpreter: imports no framework."""

from __future__ import annotations

from pathlib import Path

from backends.axolotl import checks, importer, mapping, native
from orchestrator.backend import Backend, Capabilities, EnvLock, Foreign, Imported, Job, Native
from orchestrator.findings import Finding
from orchestrator.spec import Method, RunSpec

_METHODS: tuple[Method, ...] = ("lora", "qlora", "full")


class Axolotl:
    """Axolotl behind the port."""

    name = "axolotl"
    summary = "SFT with LoRA, QLoRA or full weights from one YAML file; one process, DDP or FSDP2; CPU or GPU."

    def capabilities(self) -> Capabilities:
        """Supervised fine-tuning with every method."""
        return Capabilities(
            methods={"sft": _METHODS},
            sharding=("none", "ddp", "fsdp2"),
            cadence=mapping.BOUNDED,
            keys=mapping.keys(),
            rows_keys=mapping.DATA,
        )

    def lock(self) -> EnvLock:
        """The pins of the engine's environment."""
        return EnvLock(folder=Path(__file__).parent / "env")

    def check(self, spec: RunSpec, job: Job) -> list[Finding]:
        """Everything wrong or unwise, all at once."""
        return checks.findings(spec, job)

    def materialize(self, spec: RunSpec, job: Job) -> Native:
        """The YAML file, the launch, the artifact promised."""
        return native.materialize(spec, job)

    def import_config(self, foreign: Foreign, processes: int | None) -> Imported:
        """A configuration written for Axolotl itself, as settings of ours."""
        return importer.import_config(foreign, processes)


BACKEND: Backend = Axolotl()
