"""Every refusal, each with a clean twin that passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.trl.adapter import BACKEND
from orchestrator.backend import ModelRef, Trait

from .conftest import EVERYTHING, HOPPER, TURING, Findings, MakeJob, MakeSpec

Case = dict[str, Any]
GPU = {"machine": HOPPER, "packages": EVERYTHING}
BARE = {"machine": HOPPER, "packages": {"trl": "1.16.0"}}
TWO = {"processes": 2, "sharding": "fsdp2"}


@pytest.mark.parametrize("stage", ["sft", "dpo", "grpo"])
@pytest.mark.parametrize("method", ["lora", "qlora", "full"])
@pytest.mark.parametrize("job", [{}, GPU], ids=["cpu", "gpu"])
def test_defaults_pass(found: Findings, stage: str, method: str, job: Case) -> None:
    assert found(stage, method, job) == []


REFUSED: list[tuple[str, str, str, Case, Case]] = [
    ("trl.precision", "sft", "lora", {"machine": TURING}, {"training": {"precision": "bf16"}}),
    ("trl.precision", "sft", "lora", {}, {"training": {"precision": "fp16"}}),
    ("trl.precision", "sft", "full", GPU, {"training": {"precision": "fp16"}}),
    ("trl.precision", "sft", "qlora", GPU, {"training": {"precision": "fp16"}}),
    (
        "trl.attention",
        "sft",
        "lora",
        {},
        {"model": {"attention": "flash_attention_2"}, "training": {"precision": "bf16"}},
    ),
    ("trl.attention", "sft", "lora", BARE, {"model": {"attention": "flash_attention_2"}}),
    ("trl.attention", "sft", "lora", GPU, {"model": {"attention": "flash_attention_3"}}),
    (
        "trl.attention",
        "sft",
        "lora",
        GPU,
        {"model": {"attention": "flash_attention_2"}, "training": {"precision": "fp32"}},
    ),
    ("trl.generation", "grpo", "lora", {}, {"rl": {"generation": "vllm"}}),
    ("trl.generation", "grpo", "lora", BARE, {"rl": {"generation": "vllm"}}),
    ("trl.package", "sft", "qlora", BARE, {}),
    ("trl.package", "sft", "lora", BARE, {"tracking": {"wandb": "offline"}}),
    ("trl.package", "sft", "lora", BARE, {"tracking": {"tensorboard": True}}),
    ("trl.package", "sft", "lora", BARE, {"training": {"optimizer": "paged_adamw_8bit"}}),
    ("trl.optimizer", "sft", "lora", {}, {"training": {"optimizer": "adam"}}),
    ("trl.optimizer", "sft", "full", GPU, {"training": {"optimizer": "adamw_torch_8bit"}, "hardware": TWO}),
    ("trl.packing", "sft", "lora", {}, {"native": {"config": {"padding_free": True}}}),
    ("trl.packing", "dpo", "lora", {}, {"training": {"packing": True}}),
    ("trl.lora", "sft", "lora", {}, {"lora": {"target_modules": ["q_proj", "lm_head"]}}),
    ("trl.loss_type", "dpo", "lora", {}, {"rl": {"loss_type": "dapo"}}),
    ("trl.loss_type", "grpo", "lora", {}, {"rl": {"loss_type": "sigmoid"}}),
    ("trl.loss_type", "dpo", "lora", {}, {"rl": {"loss_type": "exo_pair"}}),
    ("trl.beta", "dpo", "lora", {}, {"rl": {"beta": 0.0}}),
    ("trl.groups", "grpo", "lora", {}, {"training": {"batch_size": 3}}),
    ("trl.groups", "grpo", "lora", {"rows": 1}, {}),
    (
        "trl.save_steps",
        "grpo",
        "lora",
        {},
        {"training": {"save_steps": 3}, "native": {"config": {"num_iterations": 2}}},
    ),
    ("trl.reward", "grpo", "lora", {}, {"rl": {"reward": []}}),
    (
        "trl.task",
        "grpo",
        "lora",
        GPU,
        {"task": {"name": "qa"}, "rl": {"reward": []}, "hardware": {"processes": 2, "sharding": "fsdp2"}},
    ),
    ("trl.reward", "grpo", "lora", {}, {"rl": {"reward": ["score"]}}),
    ("trl.reward", "grpo", "lora", {}, {"rl": {"reward": ["/nowhere/reward.py:score"]}}),
    ("trl.processes", "sft", "lora", GPU, {"hardware": {"processes": 9, "sharding": "ddp"}}),
    ("trl.quant_storage", "sft", "qlora", GPU, {"hardware": TWO, "model": {"dtype": "float32"}}),
    ("trl.native.section", "sft", "lora", {}, {"native": {"configs": {}}}),
    ("trl.native.section", "sft", "lora", {}, {"native": {"config": 3}}),
    ("trl.native.unused", "sft", "full", {}, {"native": {"peft": {"use_dora": True}}}),
    ("trl.native.key", "sft", "lora", {}, {"native": {"config": {"warmup_step": 3}}}),
    ("trl.native.key", "sft", "lora", {}, {"native": {"model": {"load_in_4bit": True}}}),
    ("trl.native.type", "sft", "lora", {}, {"native": {"config": {"neftune_noise_alpha": "5e0"}}}),
    ("trl.native.reserved", "sft", "lora", {}, {"native": {"config": {"output_dir": "/elsewhere"}}}),
    ("trl.native.reserved", "sft", "lora", {}, {"native": {"config": {"chat_template_path": "org/other"}}}),
    ("trl.native.contradiction", "sft", "lora", {}, {"native": {"config": {"learning_rate": 5e-5}}}),
    ("trl.native.contradiction", "sft", "lora", {}, {"native": {"peft": {"r": 64}}}),
    ("trl.native.contradiction", "sft", "lora", {}, {"native": {"config": {"assistant_only_loss": False}}}),
]


@pytest.mark.parametrize(("code", "stage", "method", "job", "sections"), REFUSED)
def test_refused(found: Findings, code: str, stage: str, method: str, job: Case, sections: Case) -> None:
    errors = [f for f in found(stage, method, job, **sections) if f.level == "error"]
    assert {f.code for f in errors} == {code}


@pytest.mark.parametrize(
    "sections",
    [
        {"native": {"config": {"neftune_noise_alpha": 5, "save_strategy": "epoch"}, "peft": {"use_dora": True}}},
        {"native": {"config": {"learning_rate": 2e-4}}},
        {"native": {"config": {"save_steps": 7}}},
        {"training": {"packing": True}, "native": {"config": {"padding_free": True}}},
        {"hardware": {"processes": 2, "sharding": "ddp"}},
    ],
)
def test_accepted(found: Findings, sections: Case) -> None:
    assert found("sft", "lora", **sections) == []


def test_everything_is_told_at_once(found: Findings) -> None:
    codes = [
        f.code
        for f in found(
            "grpo",
            training={"batch_size": 3, "optimizer": "adam", "precision": "fp16"},
            rl={"reward": []},
            native={"config": {"learning_rate": "2e-5", "output_dir": "x"}, "modle": {}},
        )
    ]
    assert set(codes) >= {"trl.groups", "trl.optimizer", "trl.precision", "trl.reward", "trl.native.type"}
    assert set(codes) >= {"trl.native.reserved", "trl.native.section"}


def test_a_number_that_yaml_reads_as_text_is_written_right(found: Findings) -> None:
    (finding, _) = found(native={"config": {"learning_rate": "2e-5"}})
    assert "write 2.0e-05 without quotes" in finding.message


def test_a_reward_file_is_read_and_not_run(found: Findings, tmp_path: Path) -> None:
    file = tmp_path / "side_effect.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef scroe(completions): ...\n", encoding="utf-8")
    (finding,) = found("grpo", rl={"reward": [f"{file}:score"]})
    assert "did you mean 'scroe'" in finding.message
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model folder that passes."""
    model = tmp_path / "model"
    model.mkdir()
    for name, content in {"config.json": '{"dtype": "bfloat16"}', "tokenizer.json": "{}"}.items():
        (model / name).write_text(content, encoding="utf-8")
    (model / "model.safetensors").write_bytes(b"")
    return model


def look(make_spec: MakeSpec, make_job: MakeJob, path: Path, method: str = "lora", **sections: Any) -> list[str]:
    job = make_job(model=ModelRef(label="base", path=str(path)), **GPU)
    return [f.message for f in BACKEND.check(make_spec("sft", method, **sections), job)]


def test_model_folders(make_spec: MakeSpec, make_job: MakeJob, folder: Path) -> None:
    assert look(make_spec, make_job, folder) == []
    (advice,) = look(make_spec, make_job, folder, "full")
    assert "lose most updates" in advice
    assert look(make_spec, make_job, folder, "full", model={"dtype": "float32"}) == []


def test_a_model_that_is_still_to_be_made_is_not_looked_at(make_spec: MakeSpec, make_job: MakeJob) -> None:
    job = make_job(model=ModelRef(label="merge-1", path="/runs/merge-1/artifacts/model"))
    assert BACKEND.check(make_spec("grpo"), job) == []


def test_rows_with_pictures_are_refused(found: Findings) -> None:
    row = {"setting": "data.train", "file": Path("/data/rows.jsonl"), "line": 7}
    job = {"traits": tuple(Trait(name=name, words="", **row) for name in ("turns", "pictures", "list"))}
    (finding,) = found("sft", "lora", job)
    assert (finding.code, finding.level, finding.where) == ("trl.images", "error", "/data/rows.jsonl:7")


def test_conversations_want_a_chat_template(found: Findings, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    talk = Trait(name="turns", words="", setting="data.train", file=tmp_path / "rows.jsonl", line=1)
    model = {"model": ModelRef(label="base", path=str(tmp_path))}
    for form, traits in (("messages", ()), ("chosen+rejected", (talk,))):
        (finding,) = found("sft", "lora", model | {"form": form, "traits": traits})
        assert (finding.code, finding.level) == ("model.template", "error")
    assert found("sft", "lora", model | {"form": "prompt+completion"}) == []
    given = {"config": {"chat_template_path": str(tmp_path / "own.jinja")}}
    assert [f.code for f in found("sft", "lora", model | {"form": "messages"}, native=given)] == ["model.template"]
    (tmp_path / "own.jinja").write_text("x", encoding="utf-8")
    assert found("sft", "lora", model | {"form": "messages"}, native=given) == []
    (tmp_path / "chat_template.jinja").write_text("x", encoding="utf-8")
    assert found("sft", "lora", model | {"form": "messages"}) == []
