"""Axolotl's configurations in our words: what is ours, what stays native, what is left out, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from backends.axolotl.adapter import BACKEND
from orchestrator import yamlfile
from orchestrator.backend import ConfigImporter, Foreign, Imported

LORA = """\
base_model: org/model
adapter: lora
lora_r: 8
lora_alpha: 16
lora_target_linear: true
datasets: [{path: org/rows, type: alpaca}]
learning_rate: 2e-5
warmup_ratio: 0.1
saves_per_epoch: 1
attn_implementation: sdpa
"""
FULL = """\
base_model: org/model
datasets: [{path: org/rows, type: alpaca}]
learning_rate: 1e-5
"""
ROWS = '{"messages": []}\n'

Read = Callable[..., Imported]


@pytest.fixture
def read(work: Path) -> Read:
    """Import the text of a configuration."""

    def call(text: str, processes: int | None = None, target: Path | None = None) -> Imported:
        path = work / "given.yml"
        path.write_text(text, encoding="utf-8")
        given, lines = yamlfile.read(path, "configuration", yaml.SafeLoader)
        assert isinstance(BACKEND, ConfigImporter)
        foreign = Foreign(path=path, given=given, lines=lines, folder=work, target=target or work)
        return BACKEND.import_config(foreign, processes)

    return call


def settings(imported: Imported) -> dict[str, Any]:
    assert not imported.refused
    return {one.setting: one.value for one in imported.settings}


def native(imported: Imported) -> dict[str, Any]:
    return {k.removeprefix("native."): v for k, v in settings(imported).items() if k.startswith("native.")}


def left_out(imported: Imported) -> dict[str, str]:
    return {one.key: one.reason for one in imported.left_out}


def test_our_vocabulary_takes_what_it_has_and_native_the_rest(read: Read) -> None:
    given = settings(read(LORA + "sequence_len: 2048\nseed: 7\nchat_template: llama3\nval_set_size: 0.05\n"))
    assert given["model.path"] == "org/model"
    assert given["model.attention"] == "sdpa"
    assert (given["method"], given["lora.r"], given["lora.alpha"]) == ("lora", 8, 16)
    assert given["lora.target_modules"] == "all-linear"
    assert given["training.learning_rate"] == 2e-5
    assert (given["training.max_length"], given["training.seed"]) == (2048, 7)
    assert {k.removeprefix("native.") for k in given if k.startswith("native.")} == {
        "datasets",
        "warmup_ratio",
        "saves_per_epoch",
        "chat_template",
        "val_set_size",
    }


def test_every_setting_knows_the_line_of_its_key(read: Read) -> None:
    lines = {one.setting: one.line for one in read(LORA).settings}
    assert (lines["model.path"], lines["lora.r"], lines["native.warmup_ratio"]) == (1, 3, 8)
    assert lines["training.epochs"] is None


def test_where_the_file_is_silent_axolotls_defaults_are_written_out(read: Read) -> None:
    given = settings(read(FULL))
    assert given["training.epochs"] == 1
    assert given["training.batch_size"] == given["training.gradient_accumulation"] == 1
    assert given["training.max_length"] == 512
    assert given["training.lr_scheduler"] == "cosine"
    assert given["training.optimizer"] == "adamw_torch_fused"
    assert given["training.gradient_checkpointing"] is False
    assert given["training.save_total_limit"] == 4
    assert given["native.save_strategy"] == "epoch"
    assert given["native.warmup_steps"] is None
    assert given["native.attn_implementation"] is None
    assert "lora.r" not in given
    assert settings(read(LORA))["lora.dropout"] == 0.0


def test_what_axolotl_decides_by_itself_says_so_in_the_recipe(read: Read) -> None:
    comments = {one.setting: one.comment for one in read(FULL).settings if one.comment}
    assert comments.keys() == {"native.attn_implementation", "native.warmup_steps", "native.save_strategy"}


def test_a_key_without_a_value_vanishes(read: Read) -> None:
    imported = read(FULL + "wandb_project:\nlora_model_dir:\nspecial_tokens: null\n")
    assert imported.nulls == 3
    assert not {"wandb_project", "lora_model_dir", "special_tokens"} & native(imported).keys()


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("", None),
        ("bf16: auto", None),
        ("bf16: true", "bf16"),
        ("bf16: false\nfp16: true", "fp16"),
        ("bf16: false", "fp32"),
        ("bf16:", "fp32"),
    ],
)
def test_precision(read: Read, text: str, precision: str | None) -> None:
    assert settings(read(f"{FULL}{text}\n")).get("training.precision") == precision


@pytest.mark.parametrize(
    ("text", "setting", "value"),
    [
        ("attn_implementation: flash_attention_2", "model.attention", "flash_attention_2"),
        ("attn_implementation: flex_attention", "native.attn_implementation", "flex_attention"),
        ("flash_attention: true", "model.attention", "flash_attention_2"),
        ("xformers_attention: true\nflash_attention: true", "native.attn_implementation", "xformers"),
        ("flash_attention: false", "native.attn_implementation", None),
        ("trust_remote_code: true", "model.trust_remote_code", True),
        ("revision_of_model: abc", "model.revision", "abc"),
        ("model_revision: v7", "model.revision", "v7"),
        ("gradient_checkpointing: true", "training.gradient_checkpointing", True),
        ("gradient_checkpointing: offload", "native.gradient_checkpointing", "offload"),
        ("lr_scheduler: rex", "native.lr_scheduler", "rex"),
        ("lr_scheduler: constant", "training.lr_scheduler", "constant"),
        ("lr_scheduler:", "training.lr_scheduler", "cosine"),
        ("warmup_steps: 10", "training.warmup_steps", 10),
        ("max_steps: 5", "training.max_steps", 5),
        ("max_steps: -1", "training.max_steps", None),
        ("sample_packing: true", "training.packing", True),
        ("sample_packing: false", "training.packing", None),
        ("save_steps: 50", "training.save_steps", 50),
        ("save_steps: 0.25", "native.save_steps", 0.25),
        ("save_steps: 50\nsave_strategy: steps", "native.save_strategy", "steps"),
        ("save_strategy: 'no'", "native.save_strategy", "no"),
        ("batch_size: 8\nmicro_batch_size: 2", "native.batch_size", 8),
        ("adam_beta2: 0.95", "training.adam_beta2", 0.95),
        ("logging_steps: 10", "training.logging_steps", 10),
        ("use_tensorboard: true", "tracking.tensorboard", True),
        ("wandb_project: p", "tracking.wandb", "online"),
        ("wandb_project: p\nwandb_mode: offline", "tracking.wandb", "offline"),
        ("wandb_project: p", "tracking.project", "p"),
        ("wandb_project: p\nwandb_name: first", "name", "first"),
        ("wandb_project: p\nwandb_entity: e", "native.wandb_entity", "e"),
        ("wandb_project: p\nwandb_mode: disabled", "tracking.wandb", None),
        ("trackio_project_name: t", "tracking.trackio", True),
        ("use_mlflow: true", "native.use_mlflow", True),
        ("context_parallel_size: 2\ndp_shard_size: 4", "hardware.processes", 8),
    ],
)
def test_single_keys(read: Read, text: str, setting: str, value: Any) -> None:
    assert settings(read(f"{FULL}{text}\n")).get(setting) == value


@pytest.mark.parametrize(
    ("text", "setting", "value"),
    [
        ("load_in_8bit: true", "native.load_in_8bit", True),
        ("load_in_4bit: true", "native.load_in_4bit", True),
        ("lora_dropout: 0.1", "lora.dropout", 0.1),
        ("lora_modules_to_save: [lm_head]", "lora.modules_to_save", ["lm_head"]),
        ("peft_use_rslora: true", "lora.use_rslora", True),
        ("lora_target_modules: [q_proj]", "lora.target_modules", ["q_proj"]),
        ("lora_target_modules: [q_proj]", "native.lora_target_linear", True),
        ("peft_use_dora: true", "native.peft_use_dora", True),
    ],
)
def test_adapter_keys(read: Read, text: str, setting: str, value: Any) -> None:
    assert settings(read(f"{LORA}{text}\n")).get(setting) == value


def test_an_adapter_without_targets_leaves_them_to_axolotl(read: Read) -> None:
    assert native(read(LORA.replace("lora_target_linear: true\n", "")))["lora_target_modules"] is None


def test_qlora_needs_no_second_word_for_its_four_bits(read: Read) -> None:
    imported = read(LORA.replace("adapter: lora", "adapter: qlora\nload_in_4bit: true"))
    assert settings(imported)["method"] == "qlora"
    assert "load_in_4bit" not in native(imported)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("optim_args: {a: 1}\nloraplus_lr_ratio: '16'", "loraplus_lr_ratio", 16),
        ("neftune_noise_alpha: 5e-1", "neftune_noise_alpha", 0.5),
        ("jagged_restart_anneal_steps: false", "jagged_restart_anneal_steps", 0),
        ("trl: {beta: 1e-3, epsilon: '2e-1'}", "trl", {"beta": 1e-3, "epsilon": 0.2}),
    ],
)
def test_texts_that_axolotl_makes_numbers_of_are_numbers(read: Read, text: str, key: str, value: Any) -> None:
    assert native(read(f"{FULL}{text}\n"))[key] == value


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("adam_eps: 1e-8", "adam_eps", "did you mean 'adam_epsilon'"),
        ("torch_dtype: bf16", "torch_dtype", "no such key"),
        ("debug: true", "debug", "no such key"),
        ("trl: {bta: 0.1}", "trl.bta", "did you mean 'beta'"),
        ("cut_cross_entropy: true", "cut_cross_entropy", "only the plugin axolotl.integrations.cut_cross_entropy"),
        ("output_dir: ./out", "output_dir", "the run folder"),
        ("hub_model_id: me/it", "hub_model_id", "nothing to a hub"),
        ("resume_from_checkpoint: ./c", "resume_from_checkpoint", "--resume"),
        ("lora_r: 16", "lora_r", "without an adapter"),
        ("warmup_steps: 5\nwarmup_ratio: 0", "warmup_ratio", "warmup_steps goes before it"),
        ("wandb_name: first", "wandb_name", "no effect"),
    ],
)
def test_what_has_no_effect_is_left_out_with_the_reason(read: Read, text: str, key: str, words: str) -> None:
    imported = read(f"{FULL}{text}\n")
    assert words in left_out(imported)[key]
    assert key.partition(".")[0] not in {k for k in native(imported) if "." not in key}


def test_an_ignored_key_of_a_dataset_is_found_with_its_line(read: Read) -> None:
    imported = read(FULL.replace("[{path: org/rows, type: alpaca}]", "\n  - path: org/rows\n    train_on_split: x"))
    assert [(one.key, one.line) for one in imported.left_out] == [("datasets.0.train_on_split", 4)]
    assert native(imported)["datasets"] == [{"path": "org/rows"}]


def test_with_a_plugin_from_elsewhere_unknown_keys_may_be_its_own(read: Read) -> None:
    imported = read(FULL + "plugins: [mine.Plugin]\nmy_key: 1\n")
    assert native(imported)["my_key"] == 1


def test_a_named_plugin_reads_its_keys(read: Read) -> None:
    plugin = "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin"
    assert native(read(f"{FULL}plugins: [{plugin}]\ncut_cross_entropy: true\n"))["cut_cross_entropy"] is True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("provider: baseten\ngpu: h100\n", "no training configuration"),
        (FULL + "rl: dpo\n", "rl: dpo is no supervised fine-tuning"),
        (FULL + "rl: ebft\n", "rl: ebft"),
        (FULL + "reward_model: true\n", "reward_model"),
        (FULL + "process_reward_model: true\n", "process_reward_model"),
        (FULL + "deepspeed: zero3.json\n", "DeepSpeed"),
        (FULL + "load_in_8bit: true\n", "without an adapter"),
        (FULL.replace("datasets:", "test_datasets:"), "nothing to train on"),
        (FULL.replace("learning_rate", "lr_div_factor"), "no learning_rate"),
        (LORA.replace("adapter: lora", "adapter: llama-adapter"), "neither lora nor qlora"),
        (LORA.replace("adapter: lora", "adapter: qlora"), "needs load_in_4bit"),
        (LORA.replace("lora_r: 8\n", ""), "without lora_r"),
        (FULL + "warmup_steps: 0.1\n", "warmup_steps"),
        (FULL + "special_tokens: [a]\n", "special_tokens"),
        (FULL + "plugins: 1\n", "plugins"),
        (FULL.replace("[{path: org/rows, type: alpaca}]", "org/rows"), "datasets"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(read: Read, text: str, words: str) -> None:
    imported = read(text)
    assert not imported.settings
    assert any(words in one.reason for one in imported.refused)


def test_every_refusal_is_told_at_once_with_its_line(read: Read) -> None:
    refused = read("base_model: m\nrl: dpo\ndeepspeed: z.json\n").refused
    assert [(one.key, one.line) for one in refused] == [
        ("datasets", 1),
        ("learning_rate", 1),
        ("rl", 2),
        ("deepspeed", 3),
    ]


FSDP2 = """\
fsdp_version: 2
fsdp_config:
  fsdp_offload_params: true
  limit_all_gathers: true
  auto_wrap_policy: TRANSFORMER_BASED_WRAP
  reshard_after_forward: true
"""


def test_fsdp2_is_ours_and_its_silent_keys_stay_silent(read: Read) -> None:
    imported = read(FULL + FSDP2)
    given = settings(imported)
    assert (given["hardware.sharding"], given["hardware.processes"]) == ("fsdp2", 8)
    assert given["training.gradient_checkpointing"] is False
    assert given["native.fsdp_config"] == {
        "offload_params": True,
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "reshard_after_forward": True,
        "cpu_ram_efficient_loading": None,
        "state_dict_type": None,
    }
    assert "ignores it" in left_out(imported)["fsdp_config.limit_all_gathers"]


def test_activation_checkpointing_is_a_setting_of_ours(read: Read) -> None:
    given = settings(read(FULL + FSDP2 + "  activation_checkpointing: true\n"))
    assert given["training.gradient_checkpointing"] is True
    assert "activation_checkpointing" not in given["native.fsdp_config"]


def test_checkpointing_outside_the_sharding_stays_where_it_was(read: Read) -> None:
    given = settings(read(FULL + FSDP2 + "gradient_checkpointing: true\n"))
    assert given["native.gradient_checkpointing"] is True
    assert given["training.gradient_checkpointing"] is False


@pytest.mark.parametrize("key", ["fsdp_version", "version"])
def test_a_version_inside_leaves_the_lora_kernels_off_as_axolotl_does(read: Read, key: str) -> None:
    given = settings(read(f"{LORA}fsdp_config: {{{key}: 2, offload_params: true}}\n"))
    assert given["hardware.sharding"] == "fsdp2"
    assert given["native.lora_mlp_kernel"] is False


@pytest.mark.parametrize("text", ["fsdp: [full_shard]\n", "fsdp_version: 1\n", ""])
def test_fsdp1_goes_through_with_a_note(read: Read, text: str) -> None:
    imported = read(f"{FULL}{text}fsdp_config: {{fsdp_use_orig_params: true}}\n")
    given = settings(imported)
    assert given["hardware.sharding"] == "ddp"
    assert given["native.fsdp_config"] == {"use_orig_params": True}
    assert "FSDP1" in imported.notes[0]


def test_named_processes_win(read: Read) -> None:
    assert settings(read(FULL + FSDP2, processes=4))["hardware.processes"] == 4
    alone = settings(read(FULL, processes=2))
    assert (alone["hardware.processes"], alone["hardware.sharding"]) == (2, "ddp")
    assert "hardware.processes" not in settings(read(FULL))


def test_one_local_file_of_conversations_is_our_own_data(read: Read, write: Any, work: Path) -> None:
    write("chat.jsonl", ROWS)
    text = FULL.replace("[{path: org/rows, type: alpaca}]", "[{path: chat.jsonl, type: chat_template}]")
    given = settings(read(text + "train_on_inputs: true\n"))
    assert (given["data.train"], given["training.loss_on"]) == ("./chat.jsonl", "all")
    assert given["native.excess_length_strategy"] is None
    assert not {"native.datasets", "native.chat_template", "native.train_on_inputs"} & given.keys()
    assert settings(read(text, target=work / "not" / "there"))["data.train"] == "../../chat.jsonl"


def test_a_linked_folder_of_recipes_is_seen_through(read: Read, write: Any, work: Path) -> None:
    write("chat.jsonl", ROWS)
    (work / "real" / "deep").mkdir(parents=True)
    (work / "link").symlink_to(work / "real" / "deep")
    text = FULL.replace("[{path: org/rows, type: alpaca}]", "[{path: chat.jsonl, type: chat_template}]")
    assert settings(read(text, target=work / "link"))["data.train"] == "../../chat.jsonl"


@pytest.mark.parametrize(
    "dataset",
    [
        "{path: chat.jsonl, type: chat_template, field_messages: turns}",
        "{path: chat.jsonl, type: alpaca}",
        "{path: chat.jsonl, type: {field_output: text}}",
        "{path: gone.jsonl, type: chat_template}",
        "{path: chat.jsonl, type: chat_template, split: 'train[:10]'}",
    ],
)
def test_rows_that_are_read_in_another_way_stay_native(read: Read, write: Any, dataset: str) -> None:
    write("chat.jsonl", ROWS)
    given = settings(read(FULL.replace("{path: org/rows, type: alpaca}", dataset)))
    assert "data.train" not in given
    assert len(given["native.datasets"]) == 1


def test_paths_are_written_as_seen_from_the_recipe(read: Read, work: Path, write: Any) -> None:
    write("data/rows.json", "[]")
    write("base/config.json", "{}")
    text = FULL.replace("org/rows", "data/rows.json").replace("org/model", "base")
    given = settings(read(text, target=work / "recipes"))
    assert given["model.path"] == "../base"
    assert given["native.datasets"][0]["path"] == "../data/rows.json"


def test_names_on_a_hub_urls_and_absolute_paths_stay(read: Read) -> None:
    text = "datasets: [{path: org/rows, data_files: a/b.json}, {path: 'https://x/y.json'}, {path: /tmp/z.json}]"
    given = settings(read(FULL.replace("datasets: [{path: org/rows, type: alpaca}]", text)))
    paths = [[one.get("data_files"), one["path"]] for one in given["native.datasets"]]
    assert paths == [["a/b.json", "org/rows"], [None, "https://x/y.json"], [None, "/tmp/z.json"]]


def test_files_of_a_builder_are_files_here(read: Read, work: Path, write: Any) -> None:
    write("a.json", "[]")
    text = "datasets: [{path: json, data_files: [a.json]}]"
    given = settings(read(FULL.replace("datasets: [{path: org/rows, type: alpaca}]", text), target=work / "r"))
    assert given["native.datasets"][0]["data_files"] == ["../a.json"]


def test_a_file_that_is_missing_is_told(read: Read) -> None:
    assert "there is no rows.json here" in read(FULL.replace("org/rows", "rows.json")).notes[0]


def test_a_template_is_no_path(read: Read) -> None:
    template = "{% for m in messages %}" + "x" * 300
    assert native(read(f'{FULL}chat_template_jinja: "{template}"\n'))["chat_template_jinja"] == template


def test_a_schedule_with_a_floor_keeps_the_floor_it_names(read: Read) -> None:
    text = "lr_scheduler: cosine_with_min_lr\nlr_scheduler_kwargs: {min_lr: 1e-6}\n"
    assert native(read(FULL + text))["lr_scheduler_kwargs"] == {"min_lr": "1e-6", "min_lr_rate": None}
