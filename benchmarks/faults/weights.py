"""Model folders that are incomplete, damaged or something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from benchmarks.faults.fault import Fault, Words
from benchmarks.faults.lab import CHATS, Lab

Damage = Callable[[Path], None]


def _train(damage: Damage) -> Words:
    """SFT from a model with this damage."""

    def words(lab: Lab, faulty: bool) -> list[str]:
        model = lab.model()
        if faulty:
            damage(model)
        return ["sft", "--model", str(model), "--data", lab.rows(CHATS), "--dry-run"]

    return words


def _cut(model: Path) -> None:
    weights = next(model.glob("*.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1000])


def _shard_gone(model: Path) -> None:
    index = {"weight_map": {"a": next(model.glob("*.safetensors")).name, "b": "model-00002-of-00002.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))


def _pickled(model: Path) -> None:
    next(model.glob("*.safetensors")).rename(model / "pytorch_model.bin")


def _no_tokenizer(model: Path) -> None:
    for file in model.glob("tokenizer*"):
        file.unlink()


def _adapter(model: Path) -> None:
    (model / "config.json").rename(model / "adapter_config.json")


def _no_config(model: Path) -> None:
    (model / "config.json").unlink()


def _page(model: Path) -> None:
    next(model.glob("*.safetensors")).write_text("<!DOCTYPE html><html>404</html>")


FAULTS = (
    Fault("M6", "weights cut off by a broken copy", _train(_cut), "damaged"),
    Fault("M6", "a shard named in the index is missing", _train(_shard_gone), "lacks 1 of 2 weight files"),
    Fault("M6", "an HTML page under the name of the weights", _train(_page), "damaged"),
    Fault("M6", "pickled weights, which can run code", _train(_pickled), "pickled"),
    Fault("C7", "an export without its tokenizer", _train(_no_tokenizer), "no tokenizer"),
    Fault("C7", "an export without its config", _train(_no_config), "config.json"),
    Fault("C1", "an adapter where a model should be", _train(_adapter), "is an adapter"),
)
