"""Memory and disk of a stage, predicted from the weights' headers, else from the model's name; nothing is loaded.

Parameter state per GPU, sharded N ways (bf16, Adam): 2 bytes of weights, 2 of gradients and 8 of moments a parameter,
each divided by N. Adapters train about r x (in + out) numbers a matrix, which is small; a 4-bit base takes half a byte
and some a parameter. Activations, buffers and a rollout engine come on top and are not predicted.
"""

from __future__ import annotations

import json
import math
import re
import struct
from pathlib import Path

from orchestrator.spec import Part, RunSpec

_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)([bBmM])(?![A-Za-z0-9])")
_HEADER_LIMIT = 100 * 2**20
_STATE_BYTES = 12.0
_BYTES = {"lora": 2.0, "qlora": 0.6, "full": _STATE_BYTES}
_CPU_FACTOR = {"lora": 2.0, "qlora": 1.0, "full": 4.0 / 3.0}
"""On a CPU the default precision is fp32: weights take 4 bytes instead of 2, full training 16 instead of 12."""


class Estimate(Part):
    """What a stage will want at least.

    Attributes:
        parameters: of the starting model.
        stored: bytes of its weights on disk.
        memory: bytes of parameter state in each rank, without activations.
        disk: bytes the run folder will take.
        named: the parameters are those that the model's name tells; its weights are not on this machine.
    """

    parameters: int
    stored: int
    memory: int
    disk: int
    named: bool = False


def estimate(spec: RunSpec, model: Path, on_gpu: bool) -> Estimate | None:
    """Predict; None when there are no safetensors here and the name, such as `org/name-30B`, tells no size."""
    shards = sorted(model.glob("*.safetensors")) if model.is_dir() else []
    parameters = sum(_parameters(shard) for shard in shards) if shards else _named(model)
    if not parameters:
        return None
    stored = sum(shard.stat().st_size for shard in shards) or 2 * parameters
    return Estimate(
        parameters=parameters,
        stored=stored,
        memory=_memory(spec, parameters, on_gpu),
        disk=_disk(spec, parameters, stored),
        named=not shards,
    )


def _named(model: Path) -> int:
    """The first size in the name of a model that is not a folder here: 30B, 0.6b, 135M."""
    found = None if model.is_dir() else _SIZE.search(model.name)
    return int(float(found[1]) * {"b": 10**9, "m": 10**6}[found[2].lower()]) if found else 0


def _memory(spec: RunSpec, parameters: int, on_gpu: bool) -> int:
    if not spec.trains:
        return parameters * (2 if on_gpu else 4)
    per = _BYTES[spec.method] * (1.0 if on_gpu else _CPU_FACTOR[spec.method])
    ways = spec.hardware.processes if spec.hardware.sharding == "fsdp2" else 1
    return int(parameters * per / ways)


def _disk(spec: RunSpec, parameters: int, stored: int) -> int:
    """A full checkpoint holds weights and two fp32 moments; adapters are small beside any of it."""
    if spec.stage == "merge":
        return stored
    if spec.trains and spec.method == "full":
        return stored + (spec.training.save_total_limit + 1) * (stored + 8 * parameters)
    return 64 * 2**20


def _parameters(shard: Path) -> int:
    return sum(math.prod(entry["shape"]) for name, entry in header(shard).items() if name != "__metadata__")


def whole(shard: Path) -> int | None:
    """Bytes that a safetensors file has by its own header; None when it is no such file."""
    ends = [entry.get("data_offsets", [0, 0])[-1] for name, entry in header(shard).items() if name != "__metadata__"]
    try:
        with shard.open("rb") as file:
            return int(8 + struct.unpack("<Q", file.read(8))[0] + max(ends)) if ends else None
    except (OSError, TypeError, ValueError):
        return None


def header(shard: Path) -> dict[str, dict[str, list[int]]]:
    """The header of a safetensors file: name -> dtype, shape, offsets. Empty when it is no such file."""
    try:
        with shard.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            found = json.loads(file.read(length)) if length < _HEADER_LIMIT else {}
    except (OSError, ValueError, struct.error):
        return {}
    entries = found.items() if isinstance(found, dict) else ()
    whole = all(
        name == "__metadata__" or (isinstance(entry, dict) and {"dtype", "shape"} <= set(entry))
        for name, entry in entries
    )
    return dict(entries) if whole else {}
