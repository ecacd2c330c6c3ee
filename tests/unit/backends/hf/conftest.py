"""Specs and jobs as the planner makes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backend import Job, ModelRef
from orchestrator.hardware import Machine
from orchestrator.spec import RunSpec

MakeSpec = Callable[..., RunSpec]
MakeJob = Callable[..., Job]


@pytest.fixture
def make_spec() -> MakeSpec:
    def make(stage: str, **parts: Any) -> RunSpec:
        training = {"learning_rate": 1e-4, "epochs": 1, "batch_size": 1, "gradient_accumulation": 1}
        fixed = {"training": training, "rl": {"beta": 0.0, "loss_type": "none"}}
        return RunSpec.model_validate({"name": "chain", "stage": stage, "backend": "hf", **fixed, **parts})

    return make


@pytest.fixture
def make_job() -> MakeJob:
    def make(run_dir: Path, model: ModelRef, *compare: ModelRef) -> Job:
        return Job(run_dir=run_dir, model=model, compare=compare, machine=Machine(cores=4, memory=2**34))

    return make


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


@pytest.fixture
def adapter_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA"}))
    (folder / "adapter_model.safetensors").write_bytes(b"")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_text('{"prompt": "1+1=", "answer": "2"}\n')
    return path
