"""The native files are exactly the golden ones, which people wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from backends.hf.adapter import BACKEND
from orchestrator import registry
from orchestrator.backend import Learned, ModelRef
from orchestrator.spec import TaskSpec

from .conftest import MakeJob, MakeSpec

GOLDEN = Path(__file__).parents[3] / "golden" / "hf"
ADAPTED = ModelRef(label="sft", path="org/base", adapter="/runs/chain-sft/artifacts/adapter")


def test_registry_finds_the_backend() -> None:
    assert registry.load("hf") is BACKEND


def test_merge_file(make_spec: MakeSpec, make_job: MakeJob) -> None:
    job = make_job(Path("/runs/chain-merge"), ADAPTED.model_copy(update={"revision": "abc123"}))
    native = BACKEND.materialize(make_spec("merge"), job)
    assert [(f.path, f.content) for f in native.files] == [("native/merge.yaml", (GOLDEN / "merge.yaml").read_text())]
    assert native.launch.args == ("/runs/chain-merge/native/merge.yaml",)
    assert [(e.kind, e.path) for e in native.expected] == [("model", "artifacts/model")]


def test_eval_file(make_spec: MakeSpec, make_job: MakeJob) -> None:
    spec = make_spec(
        "eval",
        data={"eval": "/data/held-out.jsonl"},
        model={"dtype": "bfloat16"},
        eval={
            "metric": "contains",
            "max_new_tokens": 32,
            "batch_size": 8,
            "max_items": 100,
            "gates": ["accuracy>=base"],
        },
        native={"chat_template_kwargs": {"current_date": "2026-01-04"}},
    )
    native = BACKEND.materialize(
        spec, make_job(Path("/runs/chain-eval"), ADAPTED, ModelRef(label="base", path="org/base"), ADAPTED)
    )
    assert [(f.path, f.content) for f in native.files] == [("native/eval.yaml", (GOLDEN / "eval.yaml").read_text())]
    assert [(e.kind, e.path) for e in native.expected] == [("report", "artifacts/report")]


def test_eval_of_a_task(make_spec: MakeSpec, make_job: MakeJob) -> None:
    spec = make_spec("eval", task={"name": "/my/task.py", "options": {"strict": True}}, eval={"metric": "task"})
    learned = (
        Learned(run="chain-sft", rows=Path("/data/sft.jsonl")),
        Learned(run="chain-grpo", task=TaskSpec(name="qa", options={"max_tokens": 9})),
    )
    job = make_job(Path("/runs/chain-eval"), ADAPTED).model_copy(update={"learned": learned})
    (file,) = BACKEND.materialize(spec, job).files
    assert file.content == (GOLDEN / "eval_task.yaml").read_text()
    assert BACKEND.capabilities().tasks


def test_eval_without_a_chain_takes_the_model_alone(make_spec: MakeSpec, make_job: MakeJob) -> None:
    native = BACKEND.materialize(make_spec("eval", data={"eval": "x"}), make_job(Path("/r"), ADAPTED))
    assert [m["label"] for m in yaml.safe_load(native.files[0].content)["models"]] == ["sft"]


@pytest.mark.parametrize(("threads", "wanted"), [(None, "4"), (2, "2")])
def test_threads(make_spec: MakeSpec, make_job: MakeJob, threads: int | None, wanted: str) -> None:
    spec = make_spec("merge", hardware={"threads": threads})
    launch = BACKEND.materialize(spec, make_job(Path("/r"), ADAPTED)).launch
    assert launch.env == {"OMP_NUM_THREADS": wanted}
    assert (launch.module, launch.processes) == ("backends.hf.worker", 1)


def test_eval_of_benchmarks(make_spec: MakeSpec, make_job: MakeJob) -> None:
    settings = {"benchmarks": ["/my/sums.yaml", "hellaswag"], "max_items": 50, "gates": ["accuracy>=0.5"]}
    spec = make_spec("eval", eval=settings, native={"num_fewshot": 2})
    (file,) = BACKEND.materialize(spec, make_job(Path("/runs/chain-eval"), ADAPTED)).files
    assert file.content == (GOLDEN / "eval_benchmarks.yaml").read_text()
