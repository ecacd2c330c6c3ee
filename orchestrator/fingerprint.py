"""What makes a run what it is, and the hash of it. Never paths, names, GPU ids or host names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from orchestrator.spec import RunSpec
from orchestrator.vocabulary import relevant

_CONTEXT = ("name", "from", "accept", "tracking", "backend")
_PATHS = (
    "model.path",
    "data.train",
    "data.eval",
    "rl.reward",
    "task.name",
    "rl.held_out",
    "rl.held_out_metric",
    "eval.metric",
    "eval.benchmarks",
    "hardware.threads",
    "training.save_total_limit",
)


def identity(spec: RunSpec, inputs: dict[str, Any], engine: dict[str, str]) -> dict[str, Any]:
    """The payload behind a fingerprint.

    Args:
        spec: the resolved stage.
        inputs: role -> digest (or hub name and revision) of every model, data file and piece of code that goes in.
        engine: backend name, and the digest of its lock or its versions.
    """
    settings = relevant(spec.model_dump(mode="json", by_alias=True), spec.stage, spec.method)
    return {"settings": _literals(settings), "inputs": inputs, "engine": engine}


def fingerprint(payload: dict[str, Any]) -> str:
    """sha256 of the payload in canonical JSON, hex."""
    return hashlib.sha256(json.dumps(payload, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def drift(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Field by field, what differs between two payloads: `settings.training.seed: 1 -> 2`."""
    before, after = _flat(old), _flat(new)
    changed = sorted(k for k in before.keys() | after.keys() if before.get(k) != after.get(k))
    return [f"{k}: {before.get(k)!r} -> {after.get(k)!r}" for k in changed]


def _literals(settings: dict[str, Any]) -> dict[str, Any]:
    flat = {k: v for k, v in _flat(settings).items() if k.split(".")[0] not in _CONTEXT}
    return {k: v for k, v in flat.items() if k not in _PATHS and not _is_file(k, v)}


def _is_file(setting: str, value: Any) -> bool:
    """An option of a task that names a file: its content counts, which is among what goes in."""
    return setting.startswith("task.options.") and isinstance(value, str) and Path(value).is_absolute()


def _flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat.update(_flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value})
    return flat
