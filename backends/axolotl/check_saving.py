"""What is left of a run: checkpoints to go on from, and weights that can be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, _: Job) -> list[Finding]:
    """No checkpoints; under FSDP2, another version of it or a final save in shards."""
    given = spec.native.get("fsdp_config")
    config = given if isinstance(given, dict) else {}
    return [*_checkpoints(spec), *(_fsdp2(spec, config) if spec.hardware.sharding == "fsdp2" else ())]


def _checkpoints(spec: RunSpec) -> Iterator[Finding]:
    if spec.native.get("save_strategy") == "no":
        message = "no checkpoint is saved: a run that is stopped or killed begins again from the start"
        yield Finding(
            code="axolotl.native.save",
            level="advice",
            message=message,
            where="native.save_strategy",
            fix="native.save_strategy: epoch, or training.save_steps",
        )


def _fsdp2(spec: RunSpec, config: dict[str, Any]) -> Iterator[Finding]:
    for at, version in (
        ("fsdp_version", spec.native.get("fsdp_version")),
        ("fsdp_config.fsdp_version", config.get("fsdp_version")),
    ):
        if version not in (None, 2):
            message = f"hardware.sharding is fsdp2, and native.{at} says {version}"
            yield _error("fsdp_version", at, message, f"remove native.{at}")
    kind = config.get("final_state_dict_type")
    if kind not in (None, "FULL_STATE_DICT"):
        message = f"{kind} leaves the final weights in pieces that only as many ranks load; a run leaves them whole"
        at = "fsdp_config.final_state_dict_type"
        yield _error("final_state", at, message, f"remove native.{at}")


def _error(code: str, key: str, message: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.native.{code}", level="error", message=message, where=f"native.{key}", fix=fix)
