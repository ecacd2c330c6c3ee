"""The YAML file, compared byte by byte with files that were read by a person; and the command that trains with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from backends.axolotl.adapter import BACKEND
from backends.axolotl.config import PLUGIN
from orchestrator.backend import Expected, Job
from orchestrator.launchers import argv
from orchestrator.spec import RunSpec

from .conftest import EVERYTHING, HOPPER, MakeJob, MakeSpec

GOLDEN = Path(__file__).parents[3] / "golden" / "axolotl"
GPU = {"machine": HOPPER, "packages": EVERYTHING}
PINNED = {"label": "base", "path": "org/model", "revision": "a4e59da"}
EIGHT = {"processes": 8, "sharding": "fsdp2"}
HELD_OUT = {"eval": "/data/held_out.jsonl"}

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "lora_cpu": ("lora", {"form": "messages"}, {"data": HELD_OUT, "training": {"eval_steps": 6, "save_steps": 6}}),
    "lora_ddp_cpu": ("lora", {}, {"hardware": {"processes": 2, "sharding": "ddp"}, "training": {"packing": True}}),
    "qlora_gpu": (
        "qlora",
        GPU | {"model": PINNED},
        {
            "data": HELD_OUT,
            "tracking": {"wandb": "offline"},
            "native": {"save_strategy": "epoch", "warmup_ratio": 0.03},
        },
    ),
    "lora_fsdp2": ("lora", GPU, {"hardware": EIGHT, "lora": {"target_modules": "all-linear", "use_rslora": True}}),
    "full_fsdp2": (
        "full",
        GPU | {"form": "prompt+completion"},
        {"hardware": EIGHT, "training": {"optimizer": "adamw_torch_fused", "lr_scheduler": "cosine_with_min_lr"}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(make_spec: MakeSpec, make_job: MakeJob, name: str) -> None:
    method, job, sections = CASES[name]
    spec, plain = make_spec(method, **sections), make_job(**job)
    assert [f for f in BACKEND.check(spec, plain) if f.level == "error"] == []
    (file,) = BACKEND.materialize(spec, plain).files
    assert file.path == "native/sft.yml"
    assert file.content == (GOLDEN / f"{name}.yml").read_text(encoding="utf-8")


def test_every_golden_file_has_a_case() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.yml")) == sorted(CASES)


def document(spec: RunSpec, job: Job) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(BACKEND.materialize(spec, job).files[0].content)
    return read


def test_one_process_trains_in_place(make_spec: MakeSpec, make_job: MakeJob) -> None:
    native = BACKEND.materialize(make_spec(), make_job())
    assert argv(Path("/env/bin/python"), native.launch) == (
        *("/env/bin/python", "-m", "axolotl.cli.main"),
        *("train", "/runs/it/native/sft.yml", "--launcher", "python"),
    )
    assert native.expected == (Expected(kind="adapter", path="artifacts/adapter"),)


def test_torchruns_arguments_follow_the_dashes(make_spec: MakeSpec, make_job: MakeJob) -> None:
    """Before them, torchrun would start only one worker."""
    native = BACKEND.materialize(make_spec("full", hardware=EIGHT), make_job(**GPU))
    assert argv(Path("/env/bin/python"), native.launch) == (
        *("/env/bin/python", "-m", "axolotl.cli.main"),
        *("train", "/runs/it/native/sft.yml", "--launcher", "torchrun"),
        *("--", "--standalone", "--nnodes=1", "--nproc_per_node=8"),
    )
    assert native.launch.processes == 1, "Axolotl starts torchrun itself"
    assert native.launch.env["OMP_NUM_THREADS"] == "8"
    assert native.expected == (Expected(kind="model", path="artifacts/model"),)


def test_without_a_gpu_nothing_asks_for_one(make_spec: MakeSpec, make_job: MakeJob) -> None:
    env = BACKEND.materialize(make_spec(), make_job()).launch.env
    assert env["ACCELERATE_USE_CPU"] == "true"
    assert "ACCELERATE_USE_CPU" not in BACKEND.materialize(make_spec(), make_job(**GPU)).launch.env


def test_no_network_for_a_model_in_a_folder(make_spec: MakeSpec, make_job: MakeJob) -> None:
    local = {"model": {"label": "base", "path": "/models/it"}}
    assert BACKEND.materialize(make_spec(), make_job(**local)).launch.env["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in BACKEND.materialize(make_spec(), make_job()).launch.env
    hub = {"datasets": [{"path": "org/rows", "type": "alpaca"}]}
    spec = make_spec(data={"train": None}, native=hub)
    assert "HF_HUB_OFFLINE" not in BACKEND.materialize(spec, make_job(**local)).launch.env


def test_telemetry_stays_off(make_spec: MakeSpec, make_job: MakeJob) -> None:
    assert BACKEND.materialize(make_spec(), make_job()).launch.env["AXOLOTL_DO_NOT_TRACK"] == "1"


def test_native_keys_win_and_replace_what_they_contradict(make_spec: MakeSpec, make_job: MakeJob) -> None:
    native = {"saves_per_epoch": 2, "warmup_ratio": 0.1, "neftune_noise_alpha": 5, "plugins": ["x.Y"]}
    written = document(make_spec(native=native), make_job())
    assert "save_steps" not in written
    assert "warmup_steps" not in written
    assert written["neftune_noise_alpha"] == 5
    assert written["plugins"] == ["x.Y", PLUGIN]


def test_axolotls_own_datasets(make_spec: MakeSpec, make_job: MakeJob) -> None:
    rows = [{"path": "org/rows", "type": "alpaca"}]
    written = document(make_spec(data={"train": None}, native={"datasets": rows, "val_set_size": 0.05}), make_job())
    assert written["datasets"] == rows
    assert not {"chat_template", "train_on_inputs", "test_datasets"} & set(written)


@pytest.mark.parametrize(
    ("form", "kind"),
    [("messages", "chat_template"), ("text", "completion"), (None, "chat_template")],
)
def test_how_rows_are_read(make_spec: MakeSpec, make_job: MakeJob, form: str | None, kind: str) -> None:
    assert document(make_spec(), make_job(form=form))["datasets"][0]["type"] == kind


def test_prompts_are_masked(make_spec: MakeSpec, make_job: MakeJob) -> None:
    spec = make_spec(training={"loss_on": "all"}, data={"max_rows": 10})
    written = document(spec, make_job(form="prompt+completion"))
    assert written["datasets"][0]["type"]["field_output"] == "completion"
    assert written["datasets"][0]["split"] == "train[:10]"
    assert written["train_on_inputs"] is True
    assert document(make_spec(), make_job())["train_on_inputs"] is False


def test_only_what_differs_from_the_default_is_written(make_spec: MakeSpec, make_job: MakeJob) -> None:
    assert not {"adam_beta1", "max_grad_norm", "trust_remote_code", "peft_use_rslora"} & set(
        document(make_spec(), make_job())
    )
    assert document(make_spec(training={"max_grad_norm": 0.5}), make_job())["max_grad_norm"] == 0.5
