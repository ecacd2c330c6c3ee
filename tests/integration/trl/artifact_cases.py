"""Saves an adapter, damages the file in several ways, prints what is said of each: artifact_cases.py MODEL FOLDER"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from backends.trainer.tensors import same
from orchestrator.harness import WorkError

Tensors = dict[str, Any]
DAMAGE: dict[str, Callable[[Tensors], Tensors]] = {
    "none": dict,
    "flat": lambda tensors: {name: t.flatten() for name, t in tensors.items()},
    "half the rank": lambda tensors: {n: t[:2].contiguous() if "lora_A" in n else t for n, t in tensors.items()},
    "half the keys": lambda tensors: dict(list(tensors.items())[::2]),
    "one more": lambda tensors: {**tensors, "stray": next(iter(tensors.values())).clone()},
    "one number": lambda tensors: {n: t + (k == 3) * 1e-6 for k, (n, t) in enumerate(tensors.items())},
}


def main(model: str, folder: Path) -> None:
    settings = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    trained = get_peft_model(AutoModelForCausalLM.from_pretrained(model), settings)
    trained.save_pretrained(folder)
    file, memory = folder / "adapter_model.safetensors", get_peft_model_state_dict(trained)
    whole = load_file(file)
    print(json.dumps({name: said(file, damage(whole), memory) for name, damage in DAMAGE.items()}))


def said(file: Path, tensors: Tensors, memory: Tensors) -> str | None:
    """The refusal; None for none."""
    save_file(tensors, file)
    try:
        same(file.parent, memory)
    except WorkError as error:
        return f"{error.code}: {error}"
    return None


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
