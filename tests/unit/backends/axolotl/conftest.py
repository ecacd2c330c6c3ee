"""Specs, jobs and machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backends.axolotl.adapter import BACKEND
from orchestrator.backend import Job, ModelRef
from orchestrator.findings import Finding
from orchestrator.hardware import Gpu, Machine
from orchestrator.spec import RunSpec

CPU = Machine(cores=8, memory=2**35)
HOPPER = Machine(cores=64, memory=2**40, gpus=(Gpu(name="H100", memory=80 * 2**30, capability=9.0),) * 8)
TURING = Machine(cores=8, memory=2**36, gpus=(Gpu(name="T4", memory=16 * 2**30, capability=7.5),))
EVERYTHING = {
    "axolotl": "0.19.0",
    "flash_attn": "2.8.3",
    "bitsandbytes": "0.50.2",
    "liger-kernel": "0.8.1",
    "torchvision": "0.28.0",
    "wandb": "0.31.0",
}

MakeSpec = Callable[..., RunSpec]
MakeJob = Callable[..., Job]
Findings = Callable[..., list[Finding]]


@pytest.fixture
def make_spec() -> MakeSpec:
    """SFT with our defaults; keyword arguments are sections, merged over them."""

    def make(method: str = "lora", **sections: Any) -> RunSpec:
        training = {"learning_rate": 2e-4, "epochs": 3.0, "batch_size": 4, "gradient_accumulation": 4}
        fixed: dict[str, Any] = {
            "data": {"train": "/data/rows.jsonl"},
            "training": training,
            "rl": {"beta": 0.0, "loss_type": "none"},
        }
        merged = {k: {**fixed.get(k, {}), **v} if isinstance(v, dict) else v for k, v in sections.items()}
        return RunSpec.model_validate(
            {"name": "it", "stage": "sft", "backend": "axolotl", "method": method, **fixed, **merged}
        )

    return make


@pytest.fixture
def make_job() -> MakeJob:
    """A job from a hub model on a CPU, unless told otherwise."""

    def make(**parts: Any) -> Job:
        model = ModelRef(label="base", path="org/model")
        return Job.model_validate({"run_dir": Path("/runs/it"), "model": model, "machine": CPU, **parts})

    return make


@pytest.fixture
def found(make_spec: MakeSpec, make_job: MakeJob) -> Findings:
    """Findings about a spec; `job` holds the job's parts."""

    def look(method: str = "lora", job: dict[str, Any] | None = None, **sections: Any) -> list[Finding]:
        return BACKEND.check(make_spec(method, **sections), make_job(**(job or {})))

    return look


@pytest.fixture
def page(tmp_path: Path) -> None:
    """A picture, as far as its head and end tell."""
    head = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (2).to_bytes(4, "big") * 2
    (tmp_path / "page.png").write_bytes(head + b"IEND")
