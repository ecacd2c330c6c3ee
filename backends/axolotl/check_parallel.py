"""Native keys that say where ranks are, and how a model is spread beyond FSDP2."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_LAUNCHER = ("world_size", "local_rank", "device")
_WAYS = (
    *("dp_shard_size", "dp_replicate_size", "tensor_parallel_size", "context_parallel_size"),
    *("sequence_parallel_degree", "expert_parallel_size"),
)
_FLAGS = (
    *("flash_attention", "xformers_attention", "sage_attention", "sdp_attention"),
    *("eager_attention", "flex_attention"),
)


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """What the launcher decides, sizes that don't fit the ranks, and a second word on attention."""
    return [*_launcher(spec), *_map(spec, job), *_ways(spec, job), *_attention(spec)]


def _launcher(spec: RunSpec) -> Iterator[Finding]:
    for key in (key for key in _LAUNCHER if spec.native.get(key) is not None):
        message = f"native.{key} can't be set: the launcher tells it to each rank"
        yield _error("parallel", key, message, f"remove native.{key}; set hardware.processes and hardware.sharding")


def _map(spec: RunSpec, job: Job) -> Iterator[Finding]:
    """A model cut over the GPUs of one process; where there is nothing to cut it over, ranks or a CPU stumble."""
    if spec.native.get("device_map") is None or (job.machine.gpus and spec.hardware.processes == 1):
        return
    message = "native.device_map is for one process with GPUs; here it would put weights where no rank looks for them"
    yield _error("parallel", "device_map", message, "remove native.device_map")


def _ways(spec: RunSpec, job: Job) -> Iterator[Finding]:
    given = {key: size for key in _WAYS if isinstance(size := spec.native.get(key), int) and size > 1}
    if not given:
        return
    key, ranks = next(iter(given)), spec.hardware.processes
    said = ", ".join(f"{name} {size}" for name, size in given.items())
    if not job.machine.gpus:
        message = f"native.{key} spreads a model over GPUs, and there is none"
        yield _error("parallel", key, message, f"remove native.{key}")
    elif prod(given.values()) > ranks or ranks % prod(given.values()):
        message = f"{said} want {prod(given.values())} ranks or a multiple, and there are {ranks}"
        yield _error("parallel", key, message, f"hardware.processes: {prod(given.values())}, or correct native.{key}")
    elif spec.hardware.sharding != "fsdp2" and "dp_shard_size" in given:
        message = "native.dp_shard_size is a size of FSDP2's"
        yield _error("parallel", key, message, "hardware.sharding: fsdp2, or remove native.dp_shard_size")


def _attention(spec: RunSpec) -> Iterator[Finding]:
    for key in (key for key in _FLAGS if spec.native.get(key) is not None):
        message = f"native.{key} is an older word for what model.attention decides; one of both would be ignored"
        yield _error("contradiction", key, message, f"remove native.{key} and set model.attention")


def _error(code: str, key: str, message: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.native.{code}", level="error", message=message, where=f"native.{key}", fix=fix)
