"""Everything that plan can see without a framework, and the clean twin of each fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backends.hf.adapter import BACKEND
from orchestrator.backend import Job, ModelRef
from orchestrator.spec import RunSpec

from .conftest import MakeJob, MakeSpec


def codes(spec: RunSpec, job: Job) -> list[str]:
    found = BACKEND.check(spec, job)
    assert all(f.level == "error" and f.fix for f in found)
    return [f.code for f in found]


@pytest.fixture
def merge_job(make_job: MakeJob, tmp_path: Path, model_folder: Path, adapter_folder: Path) -> Job:
    return make_job(tmp_path / "run", ModelRef(label="sft", path=str(model_folder), adapter=str(adapter_folder)))


@pytest.fixture
def eval_job(make_job: MakeJob, tmp_path: Path, model_folder: Path) -> Job:
    return make_job(tmp_path / "run", ModelRef(label="base", path=str(model_folder)))


def test_clean_merge_and_eval(make_spec: MakeSpec, merge_job: Job, eval_job: Job, data: Path) -> None:
    assert codes(make_spec("merge"), merge_job) == []
    assert codes(make_spec("eval", data={"eval": str(data)}), eval_job) == []


def test_merge_without_adapter(make_spec: MakeSpec, eval_job: Job) -> None:
    assert codes(make_spec("merge"), eval_job) == ["merge.no_adapter"]


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"hardware": {"processes": 2, "sharding": "ddp"}}, "hf.processes"),
        ({"hardware": {"sharding": "fsdp2"}}, "hf.sharding"),
        ({"native": {"max_shard_byte": 1}}, "hf.native"),
        ({"native": {"max_shard_bytes": "5GB"}}, "hf.native"),
        ({"model": {"dtype": "bfloat16"}}, "merge.model_dtype"),
    ],
)
def test_settings_of_a_merge(make_spec: MakeSpec, merge_job: Job, parts: dict[str, Any], code: str) -> None:
    assert codes(make_spec("merge", **parts), merge_job) == [code]


def test_training_is_not_for_this_backend(make_spec: MakeSpec, merge_job: Job) -> None:
    assert codes(make_spec("sft"), merge_job) == ["hf.stage"]


def test_all_problems_come_at_once(make_spec: MakeSpec, eval_job: Job) -> None:
    spec = make_spec("eval", eval={"metric": "exat"}, hardware={"processes": 3})
    assert codes(spec, eval_job) == ["hf.processes", "eval.metric"]


@pytest.mark.parametrize(("metric", "hint"), [("exat", "did you mean 'exact'"), ("contain", "did you mean 'contains'")])
def test_unknown_metric_names_the_nearest(
    make_spec: MakeSpec, eval_job: Job, data: Path, metric: str, hint: str
) -> None:
    (finding,) = BACKEND.check(make_spec("eval", data={"eval": str(data)}, eval={"metric": metric}), eval_job)
    assert hint in finding.message


@pytest.mark.parametrize("metric", ["reward:", "reward:nowhere.py:score", "reward:file.py", "reward:m:1x"])
def test_bad_reward(make_spec: MakeSpec, eval_job: Job, data: Path, metric: str) -> None:
    assert codes(make_spec("eval", data={"eval": str(data)}, eval={"metric": metric}), eval_job) == ["eval.metric"]


def test_good_reward_needs_no_answer(make_spec: MakeSpec, eval_job: Job, tmp_path: Path) -> None:
    (tmp_path / "reward.py").write_text("def score(completions, **_): return [1.0 for _ in completions]")
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "hi"}\n')
    parts: dict[str, Any] = {"data": {"eval": str(tmp_path / "prompts.jsonl")}}
    reward = {"metric": f"reward:{tmp_path / 'reward.py'}:score"}
    assert codes(make_spec("eval", **parts, eval=reward), eval_job) == []
    assert codes(make_spec("eval", **parts), eval_job) == ["data.items"]


def test_two_models_of_one_name(make_spec: MakeSpec, make_job: MakeJob, eval_job: Job, data: Path) -> None:
    job = make_job(eval_job.run_dir, eval_job.model, eval_job.model, eval_job.model)
    assert codes(make_spec("eval", data={"eval": str(data)}), job) == ["eval.labels"]


@pytest.mark.parametrize(
    ("gone", "left", "code"),
    [
        ("config.json", None, "model.config"),
        ("model.safetensors", None, "model.weights"),
        ("model.safetensors", "pytorch_model.bin", "model.pickle"),
    ],
)
def test_model_folder(
    make_spec: MakeSpec, merge_job: Job, model_folder: Path, gone: str, left: str | None, code: str
) -> None:
    (model_folder / gone).unlink()
    if left:
        (model_folder / left).write_bytes(b"")
    assert codes(make_spec("merge"), merge_job) == [code]


def test_shard_named_in_the_index_is_missing(make_spec: MakeSpec, merge_job: Job, model_folder: Path) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    (model_folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert codes(make_spec("merge"), merge_job) == ["model.shard"]


@pytest.mark.parametrize(
    ("gone", "left", "code"),
    [
        ("adapter_config.json", None, "adapter.config"),
        ("adapter_model.safetensors", None, "adapter.weights"),
        ("adapter_model.safetensors", "adapter_model.bin", "adapter.pickle"),
    ],
)
def test_adapter_folder(
    make_spec: MakeSpec, merge_job: Job, adapter_folder: Path, gone: str, left: str | None, code: str
) -> None:
    (adapter_folder / gone).unlink()
    if left:
        (adapter_folder / left).write_bytes(b"")
    assert codes(make_spec("merge"), merge_job) == [code]


def test_a_planned_parent_is_not_looked_at_and_a_wrong_path_is(
    make_spec: MakeSpec, make_job: MakeJob, tmp_path: Path
) -> None:
    planned = ModelRef(label="sft", path="org/base", adapter=str(tmp_path / "runs/sft-1/artifacts/adapter"))
    assert codes(make_spec("merge"), make_job(tmp_path / "run", planned)) == []
    wrong = planned.model_copy(update={"adapter": str(tmp_path / "adaptr"), "path": str(tmp_path / "bse")})
    assert codes(make_spec("merge"), make_job(tmp_path / "run", wrong)) == ["model.missing", "adapter.missing"]
    (tmp_path / "runs/sft-1").mkdir(parents=True)
    assert codes(make_spec("merge"), make_job(tmp_path / "run", planned)) == ["adapter.missing"]
