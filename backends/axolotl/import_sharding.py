"""Ranks and sharding. FSDP2 is ours; FSDP1 goes through as Axolotl's own keys."""

from __future__ import annotations

from math import prod
from typing import Any

from backends.axolotl.config import KERNELS
from backends.axolotl.reading import Reading

RANKS = 8
"""Processes for a sharded configuration where nobody says how many: one node."""
_SIZES = ("dp_shard_size", "dp_replicate_size", "context_parallel_size", "tensor_parallel_size", "expert_parallel_size")
_SILENT = ("auto_wrap_policy", "reshard_after_forward", "cpu_ram_efficient_loading", "state_dict_type")
"""Keys of `fsdp_config` that we write where a recipe doesn't."""
_OLD = "FSDP1, which Axolotl is about to remove; hardware.sharding: fsdp2 does the same"
_QUIET = "with fsdp_version inside fsdp_config alone, Axolotl leaves its LoRA kernels off"

Config = dict[str, Any]


def sharded(given: Config) -> bool:
    """Whether a configuration shards with FSDP2."""
    return bool(given.get("fsdp_config")) and _version(given) == "2"


def translate(reading: Reading) -> None:
    """`hardware:`, and Axolotl's keys beside it."""
    for key in ("fsdp", "fsdp_config"):
        if reading.given.get(key) in ([], {}):
            reading.leave(key, "it is empty, and shards nothing")
    given, sizes = reading.given, [_size(reading.given.get(key)) for key in _SIZES]
    second = sharded(given)
    spread = bool(given.get("fsdp_config") or given.get("fsdp"))
    ranks = reading.processes or (prod(sizes) if prod(sizes) > 1 else RANKS if spread else 1)
    if ranks > 1 or spread:
        comment = None if reading.processes else "a configuration doesn't say how many; --processes does"
        reading.put("hardware.processes", ranks, comment=comment)
        reading.put("hardware.sharding", "fsdp2" if second else "ddp", key="fsdp_version")
    if second:
        _fsdp2(reading)
    elif spread:
        reading.note(f"{reading.at('fsdp_config' if 'fsdp_config' in given else 'fsdp')}: {_OLD}")


def _fsdp2(reading: Reading) -> None:
    outside_version = reading.take("fsdp_version")
    config = {key: value for key, value in reading.take("fsdp_config").items() if key != "fsdp_version"}
    silent = dict.fromkeys(key for key in _SILENT if key not in config)
    recomputed = bool(config.pop("activation_checkpointing", None))
    outside = reading.given.get("gradient_checkpointing")
    reading.put("native.fsdp_config", {**config, **silent}, key="fsdp_config")
    _kernels(reading, outside_version)
    if not isinstance(outside, str):
        reading.put("training.gradient_checkpointing", recomputed, key="fsdp_config.activation_checkpointing")
        if not outside:
            reading.take("gradient_checkpointing")


def _kernels(reading: Reading, outside_version: Any) -> None:
    """Axolotl turns its LoRA kernels on by itself, but not where only `fsdp_config` says that this is FSDP2."""
    adapter = reading.foreign.given.get("adapter")
    if adapter and outside_version is None and not any(reading.given.get(key) is not None for key in KERNELS):
        reading.put("native.lora_mlp_kernel", False, comment=_QUIET)


def _version(given: Config) -> str:
    return str(given.get("fsdp_version") or given["fsdp_config"].get("fsdp_version") or 1)


def _size(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 1
