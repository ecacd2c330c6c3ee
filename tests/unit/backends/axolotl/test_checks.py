"""Every refusal, each with a clean twin that passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backends.axolotl.adapter import BACKEND
from data_prep.check import check
from orchestrator.backend import ModelRef, Trait

from .conftest import EVERYTHING, HOPPER, TURING, Findings, MakeJob, MakeSpec

Case = dict[str, Any]
GPU = {"machine": HOPPER, "packages": EVERYTHING}
BARE = {"machine": HOPPER, "packages": {"axolotl": "0.19.0"}}
TWO = {"processes": 2, "sharding": "fsdp2"}
DDP = {"processes": 2, "sharding": "ddp"}
SHARDS = {"final_state_dict_type": "SHARDED_STATE_DICT"}
WRAPPED = {"fsdp_config": {"activation_checkpointing": True}}
CUT = {"plugins": ["axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin"]}
OWN = {"datasets": [{"path": "org/rows", "type": "alpaca"}]}


@pytest.mark.parametrize("method", ["lora", "qlora", "full"])
@pytest.mark.parametrize("job", [{}, GPU], ids=["cpu", "gpu"])
def test_defaults_pass(found: Findings, method: str, job: Case) -> None:
    assert found(method, job) == []


@pytest.mark.parametrize("method", ["lora", "qlora", "full"])
def test_fsdp2_defaults_pass_on_gpus(found: Findings, method: str) -> None:
    assert found(method, GPU, hardware=TWO) == []


REFUSED: list[tuple[str, str, Case, Case]] = [
    ("precision", "lora", {"machine": TURING}, {"training": {"precision": "bf16"}}),
    ("precision", "lora", {}, {"training": {"precision": "fp16"}}),
    ("dtype", "lora", GPU, {"model": {"dtype": "float32"}}),
    ("attention", "lora", {}, {"model": {"attention": "flash_attention_2"}, "training": {"precision": "bf16"}}),
    ("attention", "lora", BARE, {"model": {"attention": "flash_attention_2"}}),
    ("attention", "lora", GPU, {"model": {"attention": "flash_attention_2"}, "training": {"precision": "fp32"}}),
    ("package", "qlora", BARE, {}),
    ("package", "lora", BARE, {"tracking": {"wandb": "offline"}}),
    ("package", "lora", BARE, {"tracking": {"tensorboard": True}}),
    ("package", "lora", BARE, {"training": {"optimizer": "adamw_bnb_8bit"}}),
    ("package", "lora", BARE, {"native": {"processor_type": "AutoProcessor"}}),
    ("package", "lora", BARE, {"native": {"plugins": ["axolotl.integrations.liger.LigerPlugin"]}}),
    ("optimizer", "lora", {}, {"training": {"optimizer": "adam"}}),
    ("optimizer", "full", GPU, {"training": {"optimizer": "adamw_bnb_8bit"}, "hardware": TWO}),
    ("lora", "lora", {}, {"lora": {"target_modules": ["q_proj", "lm_head"]}}),
    ("processes", "lora", GPU, {"hardware": {"processes": 9, "sharding": "ddp"}}),
    ("fsdp2_cpu", "full", {}, {"hardware": TWO}),
    ("fsdp2_checkpointing", "lora", GPU, {"hardware": TWO, "training": {"gradient_checkpointing": True}}),
    ("fsdp2_checkpointing", "lora", GPU, {"hardware": TWO, "native": WRAPPED}),
    ("native.key", "lora", {}, {"native": {"sample_packing_eff": 0.9}}),
    ("native.key", "lora", {}, {"native": {"liger_rope": True}}),
    ("native.type", "lora", {}, {"native": {"neftune_noise_alpha": "much"}}),
    ("native.type", "full", GPU, {"hardware": TWO, "native": {"fsdp_config": {"activation_checkpoint": False}}}),
    ("native.type", "lora", {}, {"data": {"train": None}, "native": {"datasets": [{"path": "x", "tipe": "alpaca"}]}}),
    ("native.type", "lora", {}, {"native": {"lr_scheduler": "zigzag"}}),
    ("native.type", "lora", {}, {"native": {"attn_implementation": "flash"}}),
    ("native.type", "lora", {}, {"native": {"save_strategy": "sometimes"}}),
    ("native.type", "lora", {}, {"native": {"tokenizer_type": "LlamaTokenizr"}}),
    ("native.type", "lora", {}, {"native": {"peft_init_lora_weights": "gausian"}}),
    ("native.type", "lora", {}, {"native": {"torch_compile_backend": "fast"}}),
    ("native.type", "lora", {}, {"native": {"wandb_log_model": "model"}}),
    ("native.type", "lora", {}, {"data": {"train": None}, "native": {"datasets": [{"path": "x", "type": "alpcaa"}]}}),
    ("native.eval", "lora", {}, {"native": {"early_stopping_patience": 3}}),
    ("native.eval", "lora", {}, {"native": {"load_best_model_at_end": True}}),
    ("native.eval", "lora", {}, {"native": {"save_strategy": "best"}}),
    ("native.value", "lora", {}, {"native": {"warmup_ratio": 1.5}}),
    ("native.value", "lora", {}, {"native": {"dataloader_num_workers": -1}}),
    ("native.value", "full", {}, {"native": {"unfrozen_parameters": ["("]}}),
    ("native.value", "lora", {}, {"native": {"chat_template": "jinja"}}),
    ("native.value", "lora", {}, {"native": {"fp8": True}}),
    ("native.value", "qlora", GPU, {"native": {"load_in_8bit": True}}),
    ("native.plugin", "lora", {}, {"native": {"plugins": ["liger"]}}),
    ("package", "lora", BARE, {"native": {"use_comet": True}}),
    ("package", "lora", {}, {"native": {"use_mlflow": True}}),
    ("native.parallel", "lora", {}, {"native": {"dp_shard_size": 2}}),
    ("native.parallel", "lora", {}, {"native": {"tensor_parallel_size": 2}}),
    ("native.parallel", "full", GPU, {"hardware": TWO, "native": {"context_parallel_size": 4}}),
    ("native.parallel", "lora", GPU, {"hardware": DDP, "native": {"dp_shard_size": 2}}),
    ("native.parallel", "lora", GPU, {"native": {"world_size": 8}}),
    ("native.parallel", "lora", GPU, {"native": {"local_rank": 0}}),
    ("native.parallel", "lora", GPU, {"native": {"device": "cuda:1"}}),
    ("native.parallel", "lora", {}, {"native": {"device_map": "auto"}}),
    ("native.parallel", "lora", GPU, {"hardware": DDP, "native": {"device_map": "auto"}}),
    ("native.contradiction", "lora", {}, {"native": {"flash_attention": True}}),
    ("native.contradiction", "lora", GPU, {"native": {"xformers_attention": True}}),
    ("attention", "lora", {}, {"native": {"attn_implementation": "sage"}}),
    ("native.path", "lora", {}, {"native": {"tokenizer_config": "/nope"}}),
    ("native.path", "lora", {}, {"native": {"chat_template": "jinja", "chat_template_jinja": "/nope.jinja"}}),
    ("native.path", "lora", {}, {"data": {"train": None}, "native": {"datasets": [{"path": "/nope.jsonl"}]}}),
    ("native.plugin", "lora", {}, {"native": {"plugins": ["axolotl.integrations.liger.LigerPlugn"]}}),
    ("native.plugin", "lora", {}, {"native": {"plugins": ["axolotl.integrations.nothing.Plugin"]}}),
    ("native.fsdp_version", "full", GPU, {"hardware": TWO, "native": {"fsdp_version": 1}}),
    ("native.fsdp_version", "full", GPU, {"hardware": TWO, "native": {"fsdp_config": {"fsdp_version": 1}}}),
    ("native.final_state", "full", GPU, {"hardware": TWO, "native": {"fsdp_config": SHARDS}}),
    ("package", "lora", BARE, {"native": {"load_in_8bit": True}}),
    ("package", "lora", BARE, {"native": CUT}),
    ("native.reserved", "lora", {}, {"native": {"output_dir": "out"}}),
    ("native.reserved", "lora", {}, {"native": {"lora_model_dir": "adapter"}}),
    ("native.reserved", "lora", {}, {"native": {"auto_resume_from_checkpoints": True}}),
    ("native.deepspeed", "full", GPU, {"native": {"deepspeed": "zero3.json"}}),
    ("native.stage", "lora", {}, {"native": {"rl": "dpo"}}),
    ("native.contradiction", "lora", {}, {"native": {"learning_rate": 1e-3}}),
    ("native.contradiction", "lora", {}, {"native": {"bf16": True}}),
    ("native.contradiction", "lora", {}, {"native": {"adapter": "qlora"}}),
    ("native.contradiction", "lora", {}, {"native": OWN}),
    ("native.contradiction", "lora", GPU, {"native": {"fsdp_version": 2}}),
    ("native.contradiction", "lora", {}, {"training": {"save_steps": 5}, "native": {"save_steps": 0.5}}),
    ("native.eval", "lora", {}, {"native": {"eval_steps": 0.5}}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "method", "job", "sections"), REFUSED)
def test_refused(found: Findings, code: str, method: str, job: Case, sections: Case) -> None:
    errors = [f for f in found(method, job, **sections) if f.level == "error"]
    assert [f.code for f in errors] == [f"axolotl.{code}"]
    assert errors[0].fix
    assert found(method, GPU) == []


@pytest.mark.parametrize(
    "native",
    [
        {"neftune_noise_alpha": 5},
        {"gradient_checkpointing": "offload"},
        {"lr_scheduler": "rex"},
        {"save_steps": 0.25},
        {"load_in_8bit": True},
        {"plugins": ["axolotl.integrations.liger.LigerPlugin"], "liger_rope": True},
        {"special_tokens": {"pad_token": "<pad>"}},
    ],
)
def test_native_keys_that_our_settings_cannot_say(found: Findings, native: Case) -> None:
    assert found("lora", GPU, native=native) == []


def test_own_datasets_are_advised_about(found: Findings) -> None:
    (finding,) = found(data={"train": None}, native=OWN | {"val_set_size": 0.1, "evals_per_epoch": 2})
    assert (finding.code, finding.level) == ("axolotl.native.rows", "advice")


def test_a_foreign_plugin_is_advised_about(found: Findings) -> None:
    (finding,) = found(native={"plugins": ["mine.Plugin"], "a_key_of_mine": 3})
    assert (finding.code, finding.level) == ("axolotl.native.plugin", "advice")


def test_other_versions_under_fsdp2_are_advised_about(found: Findings) -> None:
    (finding,) = found("full", GPU | {"packages": EVERYTHING | {"axolotl": "0.20.0"}}, hardware=TWO)
    assert (finding.code, finding.level) == ("axolotl.versions", "advice")
    assert "axolotl 0.20.0" in finding.message


def test_a_number_as_text_is_explained(found: Findings) -> None:
    (finding,) = found(native={"neftune_noise_alpha": "5e-1"})
    assert "write 0.5 without quotes" in finding.message


def test_only_sft(make_spec: MakeSpec, make_job: MakeJob) -> None:
    spec = make_spec().model_copy(update={"stage": "dpo"})
    assert [f.code for f in BACKEND.check(spec, make_job())] == ["axolotl.stage"]


IMAGE, TEXT = {"type": "image", "path": "page.png"}, {"type": "text", "text": "What is this?"}
KEYS = {"processor_type": "AutoProcessor", "skip_prepare_dataset": True, "remove_unused_columns": False}


def user(*parts: Case) -> list[Case]:
    return [{"role": "user", "content": list(parts)}, {"role": "assistant", "content": "A page."}]


def rows_job(tmp_path: Path, *rows: Case, split: str = "train") -> Case:
    """A job that has read a file of rows."""
    path = tmp_path / f"{split}.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    traits = check(path, "sft").traits.items()
    setting = f"data.{split}"
    given = [Trait(name=n, setting=setting, file=path, line=t.line, words=t.words) for n, t in traits]
    return GPU | {"traits": tuple(given)}


BARE_IMAGE, REMOTE = {"type": "image"}, {"type": "image", "url": "https://example.org/page.png"}


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize(
    ("code", "row", "sections"),
    [
        ("image_list", {"messages": user(TEXT), "images": ["page.png", "page.png"]}, {"native": KEYS}),
        ("image_list", {"messages": user(IMAGE, TEXT), "images": ["page.png"]}, {"native": KEYS}),
        ("image_list", {"messages": user(BARE_IMAGE, BARE_IMAGE, TEXT), "images": ["page.png"] * 2}, {"native": KEYS}),
        ("image_list", {"messages": user(BARE_IMAGE, TEXT), "image": "page.png"}, {"native": KEYS}),
        ("image_list", {"messages": user(TEXT), "images": []}, {"native": KEYS}),
        ("image_order", {"messages": user(TEXT, IMAGE)}, {"native": KEYS}),
        ("image_packing", {"messages": user(IMAGE, TEXT)}, {"native": KEYS, "training": {"packing": True}}),
        ("image_keys", {"messages": user(IMAGE, TEXT)}, {}),
        ("part", {"messages": user({"type": "input_image", "image": "page.png"}, TEXT)}, {}),
        ("columns", {"prompt": [{"role": "user", "content": "x"}], "completion": "y"}, {}),
    ],
)
def test_rows(found: Findings, tmp_path: Path, code: str, row: Case, sections: Case) -> None:
    first = {"prompt": "x", "completion": "y"} if "prompt" in row else {"messages": user(TEXT)}
    job = rows_job(tmp_path, *[first] * 300, row, row)
    (finding,) = found("lora", job, **sections)
    assert (finding.code, finding.level) == (f"axolotl.{code}", "error")
    assert finding.where == f"{tmp_path / 'train.jsonl'}:301"


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize(
    "row",
    [
        {"messages": user(IMAGE, IMAGE, TEXT)},
        {"messages": user({"type": "image_url", "image_url": {"url": "page.png"}}, TEXT)},
        {"messages": user({"type": "image", "url": "page.png"}, TEXT)},
        {"messages": user(BARE_IMAGE, TEXT), "images": ["page.png"]},
    ],
)
def test_good_images_pass(found: Findings, tmp_path: Path, row: Case) -> None:
    train = {"train": str(tmp_path / "train.jsonl")}
    assert found("lora", rows_job(tmp_path, row), data=train, native=KEYS) == []


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize(("code", "part"), [("image_remote", REMOTE), ("media", {"type": "audio", "path": "a.wav"})])
def test_what_is_not_looked_at_is_told(found: Findings, tmp_path: Path, code: str, part: Case) -> None:
    (finding,) = found("lora", rows_job(tmp_path, {"messages": user(part, TEXT)}), native=KEYS)
    assert (finding.code, finding.level) == (f"axolotl.{code}", "advice")


@pytest.mark.usefixtures("page")
def test_held_out_images_lie_where_the_engine_starts(found: Findings, tmp_path: Path) -> None:
    job = rows_job(tmp_path, {"messages": user(IMAGE, TEXT)}, split="eval")
    (finding,) = found("lora", job, data={"train": str(tmp_path / "elsewhere" / "rows.jsonl")}, native=KEYS)
    assert finding.code == "axolotl.image_folder"


@pytest.mark.parametrize(
    ("native", "words"),
    [
        ({"pad_to_sequence_len": "maybe"}, "takes true or false, not 'maybe'"),
        ({"save_steps": "often"}, "takes a whole number or a number, not 'often'"),
        ({"excess_length_strategy": "cut"}, "takes 'drop' or 'truncate' or 'raise', not 'cut'"),
    ],
)
def test_what_a_key_takes_is_said(found: Findings, native: Case, words: str) -> None:
    assert [f for f in found(native=native) if words in f.message]


ROWS_OF_ITS_OWN = {"path": "org/rows", "type": "alpaca"}


@pytest.mark.parametrize(
    ("native", "words"),
    [
        ({"datasets": [ROWS_OF_ITS_OWN | {"tipe": "x"}]}, "`tipe` without a word: it has no such key; did you mean"),
        ({"datasets": [ROWS_OF_ITS_OWN | {"ds_type": "jsonl"}]}, "knows no 'jsonl' there; did you mean 'json'?"),
        ({"datasets": [{"path": "x", "type": {"field_instructionn": "q"}}]}, "did you mean 'field_instruction'?"),
        ({"datasets": [ROWS_OF_ITS_OWN | {"qqqq": 1}]}, "there are 36, most alike:"),
        ({"qqqq": 1}, "most alike:"),
        ({"tokenizer_type": "zzz"}, "most alike:"),
        ({"lr_scheduler": "cosin"}, "did you mean 'cosine'?"),
        ({"chat_template": "qwen25"}, "did you mean 'qwen_25'?"),
        ({"datasets": {"path": "x"}}, "takes a list, not"),
    ],
)
def test_a_wrong_name_is_told_with_few_others(found: Findings, native: Case, words: str) -> None:
    (message,) = [f.message for f in found(data={"train": None}, native=OWN | native) if f.level == "error"]
    assert words in message
    assert len(message) < 300


def test_every_wrong_key_of_an_entry_is_told(found: Findings) -> None:
    native = {"datasets": [ROWS_OF_ITS_OWN | {"tipe": "x", "feild": "y"}]}
    errors = [f.where for f in found(data={"train": None}, native=native) if f.level == "error"]
    assert errors == ["native.datasets.0.tipe", "native.datasets.0.feild"]


@pytest.mark.parametrize(
    ("given", "meant"), [("adamw_torch_fusd", "adamw_torch_fused"), ("adam", "adamw_torch"), ("zzz", "adamw_torch")]
)
def test_the_nearest_optimizer_is_advised(found: Findings, given: str, meant: str) -> None:
    (finding,) = found(training={"optimizer": given})
    assert finding.fix == f"training.optimizer: {meant}"


@pytest.mark.parametrize(
    ("code", "native"), [("native.save", {"save_strategy": "no"}), ("four_bits", {"load_in_4bit": True})]
)
def test_told_and_let_through(found: Findings, code: str, native: Case) -> None:
    (finding,) = found("lora", GPU, native=native)
    assert (finding.code, finding.level) == (f"axolotl.{code}", "advice")


@pytest.mark.parametrize(
    ("package", "job", "native", "words"),
    [
        ("torchvision", {"packages": {}}, {"processor_type": "AutoProcessor"}, "a machine with a GPU"),
        ("torchvision", {}, {"processor_type": "AutoProcessor"}, "a machine with a GPU"),
        ("torchvision", BARE, {"processor_type": "AutoProcessor"}, "--with torchvision"),
        ("cut-cross-entropy", BARE, CUT, "--build cut-cross-entropy"),
        ("cut-cross-entropy", {"packages": {}}, CUT, "takes a GPU"),
    ],
)
def test_no_installation_is_advised_that_is_refused(
    found: Findings, package: str, job: Case, native: Case, words: str
) -> None:
    (finding,) = found("lora", job, native=native)
    assert package in finding.message
    assert words in str(finding.fix)


@pytest.mark.parametrize("job", [{}, {"packages": {}}])
def test_muse_glimmer_wants_torchvision_for_text(found: Findings, tmp_path: Path, job: Case) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "muse_glimmer"}', encoding="utf-8")
    (tmp_path / "chat_template.jinja").write_text("x", encoding="utf-8")
    for path in ("meta-models/Muse-Glimmer-30B", str(tmp_path)):
        (finding,) = found("lora", job | {"model": ModelRef(label="base", path=path)})
        assert (finding.code, finding.level) == ("axolotl.package", "error")
    assert found("lora", GPU | {"model": ModelRef(label="base", path="meta-models/Muse-Glimmer-30B")}) == []


@pytest.mark.parametrize(
    ("form", "native", "refused"),
    [
        ("messages", {}, True),
        ("text", {}, False),
        ("messages", {"chat_template": "chatml"}, False),
        ("messages", {"chat_template": "tokenizer_default"}, True),
        (None, {"datasets": [{"path": "org/rows", "type": "chat_template"}]}, True),
        (None, {"datasets": [{"path": "org/rows", "type": "chat_template", "chat_template": "llama3"}]}, False),
        (None, OWN, False),
    ],
)
def test_a_model_without_a_chat_template(
    found: Findings, tmp_path: Path, form: str | None, native: Case, refused: bool
) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": null}', encoding="utf-8")
    job = {"model": ModelRef(label="base", path=str(tmp_path)), "form": form}
    data = {"train": None if "datasets" in native else "/data/rows.jsonl"}
    errors = [f.code for f in found("lora", job, data=data, native=native) if f.level == "error"]
    assert errors == ["model.template"] * refused
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "x"}', encoding="utf-8")
    assert [f for f in found("lora", job, data=data, native=native) if f.level == "error"] == []


def test_layers_beyond_the_last(found: Findings, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"text_config": {"num_hidden_layers": 4}}', encoding="utf-8")
    job = {"model": ModelRef(label="base", path=str(tmp_path)), "form": "text"}
    assert found("lora", job, native={"peft_layers_to_transform": [0, 3]}) == []
    (finding,) = found("lora", job, native={"peft_layers_to_transform": [3, 4]})
    assert (finding.code, "0 to 3, and no 4" in finding.message) == ("axolotl.native.value", True)


def test_another_trainer_is_told(found: Findings) -> None:
    (finding,) = found(native={"trainer_cls": "mine.Trainer"})
    assert (finding.code, finding.level) == ("axolotl.native.plugin", "advice")
