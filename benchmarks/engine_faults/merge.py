"""Faults at the merge, and of the model folder that it writes or reads."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from benchmarks.engine_faults.fault import Act, Fault
from benchmarks.engine_faults.scene import Scene, edit, recipe, remove

_MERGE = ("merge", "sft", "--name", "again")
_FULL = ("sft", "--recipe", "sft.yaml", "--name", "again")
_ON_MERGED = ("rl", "--recipe", "rl.yaml", "--name", "again")
_EVAL = ("eval", "merged", "--data", "items.jsonl", "--name", "again", "--set", "eval.max_new_tokens=4")
_ADAPTER = "runs/sft-*/artifacts/adapter"
_BARE = ("peft_merge.py", "model", _ADAPTER, "out")
_MODEL = ("load_model.py", "model")


def _header(change: Callable[[dict[str, Any]], None]) -> Act:
    """Damage: the header of the model's safetensors file."""

    def damage(scene: Scene) -> None:
        path = scene.folder / "model" / "model.safetensors"
        content = path.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        head = json.loads(content[8 : 8 + length])
        change(head)
        changed = json.dumps(head).encode()
        path.write_bytes(struct.pack("<Q", len(changed)) + changed + content[8 + length :])

    return damage


def _cut(scene: Scene) -> None:
    path = scene.folder / "model" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-5000])


def _rename_layer(head: dict[str, Any]) -> None:
    for name in [n for n in head if "layers.2.mlp" in n]:
        head[name.replace("layers.2", "layers.7")] = head.pop(name)


def _rl_onto_base(scene: Scene) -> None:
    """As if the RL run had started from the base: what a merge without lineage does."""
    with scene.json(scene.run("rl") / "manifest.json") as record:
        record["start"] = {**record["start"], "path": str(scene.folder / "model"), "label": "base"}


def _older(scene: Scene) -> None:
    scene.write("out/model.safetensors", "an older merge")


def _two_stages(scene: Scene) -> None:
    settings = scene.settings("sft")
    defaults = {key: settings.pop(key) for key in ("backend", "lora", "training", "hardware")}
    merge = {"stage": "merge", "merge": {"dtype": "bfloat16"}}
    scene.recipe("two", name="two", defaults=defaults, stages=[settings, {**merge, "backend": "hf"}])


FAULTS = (
    Fault(
        "M1",
        "the output folder holds an older merge",
        (*_MERGE, "--output", "out"),
        _older,
        "exists",
        bare=_BARE,
    ),
    Fault("M2", "an RL adapter merged onto the base", ("merge", "rl"), _rl_onto_base, "started from|trained on"),
    Fault(
        "M3a",
        "alpha changed after training",
        _MERGE,
        edit(f"{_ADAPTER}/adapter_config.json", lambda s: s.replace('"lora_alpha": 16', '"lora_alpha": 32')),
        "manifest records",
        bare=_BARE,
    ),
    Fault(
        "M3b",
        "merged in a dtype that loses the adapter",
        ("run", "two.yaml"),
        recipe("two", defaults__training__learning_rate=1e-9),
        "rounded|lose",
        prepare=_two_stages,
    ),
    Fault(
        "M4a",
        "the tied flag is off, and no output head is stored",
        _FULL,
        edit("model/config.json", lambda s: s.replace('"tie_word_embeddings": true', '"tie_word_embeddings": false')),
        "random_weights|lm_head",
        bare=_MODEL,
    ),
    Fault(
        "M4b",
        "the embedding has fewer rows than the tokenizer has tokens",
        _FULL,
        edit("model/config.json", lambda s: s.replace('"vocab_size": 320', '"vocab_size": 300')),
        "another shape",
        bare=_MODEL,
    ),
    Fault("M6a", "the weights' file is cut short", _FULL, _cut, "truncated|shard|damaged|cut", bare=_MODEL),
    Fault("M6b", "weights of a layer stand under other names", _FULL, _header(_rename_layer), "missing", bare=_MODEL),
    Fault(
        "M7a",
        "the merged folder lost its chat template",
        _ON_MERGED,
        remove("runs/merged-*/artifacts/model/chat_template.jinja"),
        "manifest records|no chat template",
    ),
    Fault(
        "M7b",
        "the merged folder's tokenizer was changed",
        _EVAL,
        edit("runs/merged-*/artifacts/model/tokenizer.json", lambda s: s.replace('"Ġthe"', '"Ġteh"', 1) + " "),
        "manifest records",
    ),
    Fault(
        "M7c",
        "the merged folder lost its configuration",
        _ON_MERGED,
        remove("runs/merged-*/artifacts/model/config.json"),
        "manifest records|config.json",
    ),
)
