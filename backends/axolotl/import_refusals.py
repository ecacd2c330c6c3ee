"""What can't become a recipe, with the reason."""

from __future__ import annotations

from backends.axolotl.mapping import DATA, NOT_SFT
from backends.axolotl.reading import Reading

_METHODS = (None, "", "lora", "qlora")
_PREFERENCES = ("dpo", "grpo")


def check(reading: Reading) -> None:
    """No training configuration, no supervised fine-tuning, or nothing that Axolotl would train either."""
    given = reading.given
    if not given.get("base_model"):
        return reading.refuse("base_model", "no base_model: this is no training configuration of Axolotl's")
    for key in (key for key in NOT_SFT if given.get(key)):
        reading.refuse(key, _not_sft(key, given[key]))
    if given.get("deepspeed"):
        reading.refuse("deepspeed", "DeepSpeed is not in the environment; shard with fsdp_version: 2 and fsdp_config")
    if not any(given.get(key) for key in DATA):
        reading.refuse("datasets", "no datasets: there is nothing to train on")
    if given.get("learning_rate") is None:
        reading.refuse("learning_rate", "no learning_rate, which Axolotl has no default for")
    return _adapter(reading)


def _not_sft(key: str, value: object) -> str:
    what = f"{key}: {value}" if isinstance(value, str) else key
    ours = f"; write it anew: post-train rl --algorithm {value}" if value in _PREFERENCES else ""
    return f"{what} is no supervised fine-tuning, and only that is done with Axolotl here{ours}"


def _adapter(reading: Reading) -> None:
    given = reading.given
    adapter, bits = given.get("adapter"), [k for k in ("load_in_4bit", "load_in_8bit") if given.get(k)]
    if adapter not in _METHODS:
        reading.refuse("adapter", f"adapter {adapter!r} is neither lora nor qlora")
    elif not adapter and bits:
        reading.refuse(bits[0], f"{bits[0]} without an adapter: Axolotl trains no quantized weights")
    elif adapter == "qlora" and "load_in_4bit" not in bits:
        reading.refuse("adapter", "adapter: qlora needs load_in_4bit: true")
    for key in ("lora_r", "lora_alpha") if adapter and not given.get("lora_model_dir") else ():
        if given.get(key) is None:
            reading.refuse("adapter", f"an adapter without {key}, which Axolotl has no default for")
