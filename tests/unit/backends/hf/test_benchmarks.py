"""Benchmarks that can't be run, seen before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.hf import task_files
from backends.hf.adapter import BACKEND
from orchestrator.backend import Job, ModelRef

from .conftest import MakeJob, MakeSpec


@pytest.fixture
def job(make_job: MakeJob, tmp_path: Path, model_folder: Path) -> Job:
    made = make_job(tmp_path / "run", ModelRef(label="base", path=str(model_folder)))
    return made.model_copy(update={"packages": {"lm_eval": "0.4.11"}})


@pytest.fixture
def sums(tmp_path: Path) -> str:
    (tmp_path / "sums.yaml").write_text("# mine\ntask: my_sums\n")
    return str(tmp_path / "sums.yaml")


def told(
    make_spec: MakeSpec, job: Job, names: list[str], eval_: dict[str, Any] | None = None, **more: Any
) -> list[str]:
    found = BACKEND.check(make_spec("eval", eval={"benchmarks": names, **(eval_ or {})}, **more), job)
    assert {finding.code for finding in found} <= {"eval.benchmarks"}
    return [finding.message for finding in found]


def test_what_can_be_run(make_spec: MakeSpec, job: Job, sums: str) -> None:
    assert told(make_spec, job, [sums, "hellaswag"], native={"num_fewshot": 5, "apply_chat_template": True}) == []
    assert told(make_spec, job, ["hellaswag"], {"max_items": 5, "batch_size": 4, "gates": ["accuracy>0.5"]}) == []


def test_without_lm_eval(make_spec: MakeSpec, job: Job) -> None:
    for packages in (None, {"torch": "2"}):
        (finding,) = BACKEND.check(
            make_spec("eval", eval={"benchmarks": ["hellaswag"]}), job.model_copy(update={"packages": packages})
        )
        assert "lm-eval is not in" in finding.message
        assert "backends path axolotl" in (finding.fix or "")


@pytest.mark.parametrize(
    ("eval_", "more", "word"),
    [
        ({"metric": "math"}, {}, "eval.metric"),
        ({"temperature": 0.5}, {}, "eval.temperature"),
        ({"generation": "vllm"}, {}, "eval.generation"),
        ({"max_new_tokens": 9}, {}, "eval.max_new_tokens"),
        ({}, {"task": {"name": "qa"}}, "task"),
        ({}, {"native": {"num_fewshot": -1}}, "num_fewshot"),
        ({}, {"native": {"apply_chat_template": "yes"}}, "apply_chat_template"),
    ],
)
def test_settings_without_effect_or_sense(
    make_spec: MakeSpec, job: Job, eval_: dict[str, Any], more: dict[str, Any], word: str
) -> None:
    able = job.model_copy(update={"packages": {"lm-eval": "0.4.11", "vllm": "1"}})
    (message,) = told(make_spec, able, ["hellaswag"], eval_, **more)
    assert word in message


def test_files(make_spec: MakeSpec, job: Job, sums: str, tmp_path: Path) -> None:
    (message,) = told(make_spec, job, [str(tmp_path / "gone.yaml")])
    assert "no such task file" in message
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "more.yml").write_text("task: more\n")
    (message,) = told(make_spec, job, [sums, str(tmp_path / "other" / "more.yml")])
    assert "several folders" in message


def test_settings_of_lm_eval_without_a_benchmark(make_spec: MakeSpec, job: Job, data: Path) -> None:
    spec = make_spec("eval", data={"eval": str(data)}, native={"num_fewshot": 5})
    assert [finding.where for finding in BACKEND.check(spec, job)] == ["native.num_fewshot"]


def test_the_name_in_a_file(sums: str, tmp_path: Path) -> None:
    assert task_files.task(sums) == "my_sums"
    assert task_files.task("hellaswag") == "hellaswag"
    assert task_files.own([sums])
    assert not task_files.own([sums, "hellaswag"])
    group = tmp_path / "group.yaml"
    group.write_text("group: mine\ntask:\n  - hellaswag\n")
    assert task_files.task(str(group)) == "mine"
    assert not task_files.own([str(group)])
    group.write_text("description: nothing\n")
    with pytest.raises(ValueError, match="no line"):
        task_files.task(str(group))
