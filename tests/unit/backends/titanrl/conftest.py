"""Specs and jobs of TitanRL."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backend import Job, ModelRef
from orchestrator.hardware import Gpu, Machine
from orchestrator.spec import RunSpec

CPU = Machine(cores=2, memory=2**34)
NODE = Machine(cores=64, memory=2**40, gpus=(Gpu(name="H100", memory=80 * 2**30, capability=9.0),) * 8)

MakeSpec = Callable[..., RunSpec]
MakeJob = Callable[..., Job]


@pytest.fixture
def make_spec() -> MakeSpec:
    """A run of the shipped QA task; keyword arguments are sections, merged over it."""

    def make(**sections: Any) -> RunSpec:
        training = {"learning_rate": 1e-6, "epochs": 1.0, "max_steps": 20, "batch_size": 8, "gradient_accumulation": 4}
        fixed: dict[str, Any] = {"training": training, "task": {"name": "qa"}, "rl": {"beta": 0.0, "loss_type": "dapo"}}
        merged = {k: {**fixed.get(k, {}), **v} if isinstance(v, dict) else v for k, v in sections.items()}
        head = {"name": "it", "stage": "grpo", "backend": "titanrl", "method": "full"}
        return RunSpec.model_validate({**head, **fixed, **merged})

    return make


@pytest.fixture
def make_job() -> MakeJob:
    """A job from a model that is not on this machine, on a CPU, unless told otherwise."""

    def make(**parts: Any) -> Job:
        start = ModelRef(label="base", path=parts.pop("path", "org/model"))
        return Job.model_validate({"run_dir": Path("/runs/it"), "model": start, "machine": CPU, **parts})

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder as far as a plan reads it."""
    config = {"model_type": "qwen3", "num_key_value_heads": 2, "dtype": "bfloat16"}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in ("chat_template.jinja", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    return tmp_path
