"""Copies an adapter once for each fault, with the fault in it: break_adapter.py ADAPTER FOLDER. Runs in the engine's
environment; FOLDER/FAULT appears for every fault below.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

Tensors = dict[str, Any]


def wrapper(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name.replace(".layers.", "._orig_mod.layers."): tensor for name, tensor in tensors.items()}


def flattened(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name: tensor.flatten() for name, tensor in tensors.items()}


def hollow(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name: tensor[:0] for name, tensor in tensors.items()}


def rank(tensors: Tensors, config: dict[str, Any]) -> Tensors:
    config["r"] *= 2
    return tensors


def other_nesting(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name.replace("model.model.layers", "model.model.language_model.layers"): t for name, t in tensors.items()}


def extra_layer(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return tensors | {
        name.replace("layers.1", "layers.9"): t.clone() for name, t in tensors.items() if "layers.1" in name
    }


def lost_layer(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name: tensor for name, tensor in tensors.items() if "layers.1" not in name}


def untrained(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name: torch.zeros_like(t) if "lora_B" in name else t for name, t in tensors.items()}


def nan(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    next(iter(tensors.values()))[0, 0] = float("nan")
    return tensors


def half(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name: tensor for n, (name, tensor) in enumerate(sorted(tensors.items())) if n}


def saved_lost(tensors: Tensors, config: dict[str, Any]) -> Tensors:
    config["modules_to_save"] = ["lm_head"]
    return tensors


def wide(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name: torch.cat([t, t], dim=1) if "lora_A" in name else t for name, t in tensors.items()}


def tiny(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    """Far below what float16 resolves beside the weights."""
    return {name: t * 1e-6 if "lora_B" in name else t for name, t in tensors.items()}


def huge(tensors: Tensors, _: dict[str, Any]) -> Tensors:
    return {name: t * 1e7 if "lora_B" in name else t for name, t in tensors.items()}


_SHAPES = (flattened, hollow, rank, wide)
_NAMES = (wrapper, other_nesting, extra_layer, lost_layer, half, saved_lost)
_NUMBERS = (untrained, nan, tiny, huge)
FAULTS: dict[str, Callable[[Tensors, dict[str, Any]], Tensors]] = {
    f.__name__: f for f in (*_SHAPES, *_NAMES, *_NUMBERS)
}


def main(source: Path, root: Path) -> None:
    for name, fault in FAULTS.items():
        folder = Path(shutil.copytree(source, root / name))
        config = json.loads((folder / "adapter_config.json").read_text())
        tensors = fault(load_file(source / "adapter_model.safetensors"), config)
        save_file({n: t.contiguous() for n, t in tensors.items()}, folder / "adapter_model.safetensors")
        (folder / "adapter_config.json").write_text(json.dumps(config))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
