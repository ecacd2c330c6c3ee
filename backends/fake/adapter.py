"""The fake engine's adapter. Its worker runs in the core's own interpreter."""

from __future__ import annotations

import json

from orchestrator.backend import Capabilities, EnvLock, Expected, Job, LaunchSpec, Native, NativeFile
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import JUDGING_STAGES, TRAINING_STAGES, RunSpec

_BEHAVIOURS = ("silent", "garbage", "hollow", "fail", "ignore_stop", "unsaved")
_KEYS = {"steps", "seconds_per_step", "die_at", "exit_code", "surprise", "spoil", *_BEHAVIOURS}


class FakeBackend:
    """Every stage; `native:` says how the worker shall behave."""

    name = "fake"
    summary = "a stand-in for tests; trains nothing"

    def capabilities(self) -> Capabilities:
        """All stages, all methods."""
        training = dict.fromkeys(TRAINING_STAGES, ("lora", "qlora", "full"))
        return Capabilities(
            methods={**training, "merge": (), "eval": (), "verify": ()},
            sharding=("none", "ddp", "fsdp2"),
            cadence=("steps",),
            tasks=True,
            stand_in=True,
        )

    def lock(self) -> EnvLock | None:
        """None: the core's interpreter will do."""
        return None

    def check(self, spec: RunSpec, job: Job) -> list[Finding]:
        """Unknown behaviours."""
        unknown = [key for key in spec.native if key not in _KEYS]
        return [
            Finding(
                code="native.unknown",
                level="error",
                message=f"unknown native key {key!r}{nearest(key, _KEYS)}",
                where=f"native.{key}",
            )
            for key in unknown
        ]

    def materialize(self, spec: RunSpec, job: Job) -> Native:
        """One JSON file."""
        expected = _expected(spec)
        content = {
            "stage": spec.stage,
            "steps": spec.training.max_steps or 5,
            "seed": spec.training.seed,
            "output": str(job.run_dir / expected.path),
            "kind": expected.kind,
            "checkpoints": str(job.run_dir / "checkpoints"),
            "save_steps": spec.training.save_steps,
            "compare": [model.label for model in job.compare],
            **spec.native,
        }
        file = NativeFile(path="native/fake.json", content=json.dumps(content, indent=2) + "\n")
        launch = LaunchSpec(module="backends.fake.worker", args=(str(job.run_dir / file.path),))
        return Native(files=(file,), launch=launch, expected=(expected,))


def _expected(spec: RunSpec) -> Expected:
    if spec.stage in JUDGING_STAGES:
        return Expected(kind="report", path="artifacts/report")
    if spec.stage == "merge" or spec.method == "full":
        return Expected(kind="model", path="artifacts/model")
    return Expected(kind="adapter", path="artifacts/adapter")


BACKEND = FakeBackend()
