"""Specs, jobs and machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backends.trl.adapter import BACKEND
from orchestrator.backend import Job, ModelRef
from orchestrator.findings import Finding
from orchestrator.hardware import Gpu, Machine
from orchestrator.spec import RunSpec

CPU = Machine(cores=8, memory=2**35)
HOPPER = Machine(cores=64, memory=2**40, gpus=(Gpu(name="H100", memory=80 * 2**30, capability=9.0),) * 8)
TURING = Machine(cores=8, memory=2**36, gpus=(Gpu(name="T4", memory=16 * 2**30, capability=7.5),))
EVERYTHING = {"trl": "1.16.0", "flash_attn": "2.8.3", "vllm": "0.20.0", "bitsandbytes": "0.50.2", "wandb": "0.30"}

MakeSpec = Callable[..., RunSpec]
MakeJob = Callable[..., Job]
Findings = Callable[..., list[Finding]]


@pytest.fixture
def make_spec(tmp_path: Path) -> MakeSpec:
    """A stage with our defaults; keyword arguments are sections, merged over them."""
    reward = tmp_path / "reward.py"
    reward.write_text("def score(completions, **columns):\n    return [0.0 for _ in completions]\n", encoding="utf-8")

    def make(stage: str = "sft", method: str = "lora", **sections: Any) -> RunSpec:
        training = {"learning_rate": 2e-4, "epochs": 3.0, "batch_size": 4, "gradient_accumulation": 4}
        losses = {"sft": (0.0, "none"), "dpo": (0.1, "sigmoid"), "grpo": (0.04, "dapo")}
        beta, loss = losses[stage]
        rl = {"beta": beta, "loss_type": loss, "reward": [f"{reward}:score"] if stage == "grpo" else []}
        fixed: dict[str, Any] = {"data": {"train": "/data/rows.jsonl"}, "training": training, "rl": rl}
        merged = {k: {**fixed.get(k, {}), **v} if isinstance(v, dict) else v for k, v in sections.items()}
        return RunSpec.model_validate(
            {"name": "it", "stage": stage, "backend": "trl", "method": method, **fixed, **merged}
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

    def look(
        stage: str = "sft", method: str = "lora", job: dict[str, Any] | None = None, **sections: Any
    ) -> list[Finding]:
        return BACKEND.check(make_spec(stage, method, **sections), make_job(**(job or {})))

    return look
