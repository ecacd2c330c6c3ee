"""Argument files, compared byte by byte with files that were read by a person; nothing here records them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from backends.trl.adapter import BACKEND
from orchestrator.backend import Expected
from orchestrator.spec import RunSpec

from .conftest import EVERYTHING, HOPPER, TURING, MakeJob, MakeSpec

GOLDEN = Path(__file__).parents[3] / "golden" / "trl"
GPU = {"machine": HOPPER, "packages": EVERYTHING}
FSDP = {"processes": 8, "sharding": "fsdp2"}
PINNED = {"label": "base", "path": "org/model", "revision": "a4e59da"}

CASES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "sft_lora_cpu": ("sft", "lora", {"rows": 1000}, {}),
    "sft_qlora_gpu": (
        "sft",
        "qlora",
        GPU,
        {"tracking": {"wandb": "offline"}, "data": {"eval": "/data/eval.jsonl"}, "training": {"eval_steps": 50}},
    ),
    "sft_full_fsdp2": (
        "sft",
        "full",
        GPU | {"model": PINNED},
        {"hardware": FSDP, "native": {"config": {"neftune_noise_alpha": 5, "fsdp_config": {"cpu_offload": True}}}},
    ),
    "dpo_full_gpu": ("dpo", "full", GPU | {"model": PINNED}, {"rl": {"loss_type": "ipo"}}),
    "grpo_lora_vllm": ("grpo", "lora", GPU | {"rows": 512}, {"rl": {"reward": ["rewards.sums:score"]}}),
    "grpo_qlora_turing": (
        "grpo",
        "qlora",
        {"machine": TURING},
        {
            "rl": {"reward": ["rewards.sums:score"]},
            "native": {"config": {"num_iterations": 2}, "peft": {"use_dora": True}},
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(make_spec: MakeSpec, make_job: MakeJob, name: str) -> None:
    stage, method, job, sections = CASES[name]
    spec, plain = make_spec(stage, method, **sections), make_job(**job)
    assert [f for f in BACKEND.check(spec, plain) if f.level == "error"] == []
    (file,) = BACKEND.materialize(spec, plain).files
    assert file.path == f"native/{stage}.yaml"
    assert file.content == (GOLDEN / f"{name}.yaml").read_text(encoding="utf-8")


def test_every_golden_file_has_a_case() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.yaml")) == sorted(CASES)


def document(spec: RunSpec, make_job: MakeJob, **job: Any) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(BACKEND.materialize(spec, make_job(**job)).files[0].content)
    return read


def test_launch_and_artifact(make_spec: MakeSpec, make_job: MakeJob) -> None:
    native = BACKEND.materialize(make_spec(method="full", hardware={"processes": 4, "sharding": "ddp"}), make_job())
    assert native.launch.processes == 4
    assert native.launch.args == ("/runs/it/native/sft.yaml",)
    assert native.launch.env["OMP_NUM_THREADS"] == "2", "eight cores for four ranks"
    assert native.expected == (Expected(kind="model", path="artifacts/model"),)
    assert BACKEND.materialize(make_spec(), make_job()).expected[0].path == "artifacts/adapter"


def test_threads_can_be_said(make_spec: MakeSpec, make_job: MakeJob) -> None:
    native = BACKEND.materialize(make_spec(hardware={"threads": 3}), make_job())
    assert native.launch.env["OMP_NUM_THREADS"] == "3"


@pytest.mark.parametrize(
    ("job", "sections", "attention"),
    [
        (GPU, {}, "flash_attention_2"),
        (GPU | {"packages": {"trl": "1"}}, {}, "sdpa"),
        (GPU | {"packages": None}, {}, "sdpa"),
        (GPU, {"training": {"precision": "fp32"}}, "sdpa"),
        ({"machine": TURING, "packages": EVERYTHING}, {}, "sdpa"),
        (GPU, {"model": {"attention": "eager"}}, "eager"),
    ],
)
def test_attention(
    make_spec: MakeSpec, make_job: MakeJob, job: dict[str, Any], sections: dict[str, Any], attention: str
) -> None:
    assert document(make_spec(**sections), make_job, **job)["model"]["attn_implementation"] == attention


@pytest.mark.parametrize(("dropout", "off"), [(0.05, False), (0.0, True)])
def test_dropout_is_what_the_recipe_says(make_spec: MakeSpec, make_job: MakeJob, dropout: float, *, off: bool) -> None:
    config = document(make_spec("dpo", lora={"dropout": dropout}), make_job)["config"]
    assert config["disable_dropout"] is off


def test_a_task_stands_in_place_of_rows_and_rewards(make_spec: MakeSpec, make_job: MakeJob) -> None:
    task = {"name": "/tasks/mine.py", "options": {"turns": 2, "strict": True, "rate": 0.5, "data": "/rows.jsonl"}}
    rl: dict[str, Any] = {"reward": []}
    data = {"train": None}
    made = document(make_spec("grpo", task=task, rl=rl, data=data, training={"eval_steps": 5}), make_job)
    assert made["task"]["options"] == {"turns": "2", "strict": "true", "rate": "0.5", "data": "/rows.jsonl"}
    assert "rewards" not in made
    assert made["data"] == {"train": None, "eval": None, "max_rows": None, "context": 1024}
    assert (made["config"]["eval_strategy"], made["config"]["eval_steps"]) == ("steps", 5)
    unwatched = document(make_spec("grpo", task=task, rl=rl, data=data), make_job)
    assert unwatched["config"]["eval_strategy"] == "no"


def test_it_is_the_same_every_time(make_spec: MakeSpec, make_job: MakeJob) -> None:
    spec, job = make_spec("grpo"), make_job()
    assert BACKEND.materialize(spec, job) == BACKEND.materialize(spec, job)
