"""The model's configuration, looked at without a framework."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backends.trl.choices import choose
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """What the model's own configuration says against this training; its folder is looked at elsewhere."""
    config = Path(job.model.path) / "config.json"
    try:
        read = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [*_config(spec, job, read)] if isinstance(read, dict) else []


def _config(spec: RunSpec, job: Job, config: dict[str, Any]) -> Iterator[Finding]:
    path = job.model.path
    text = config.get("text_config") or config
    stored = text.get("dtype") or text.get("torch_dtype") or config.get("dtype") or config.get("torch_dtype")
    if config.get("quantization_config") and spec.method != "lora":
        message = f"{path} is quantised already; method {spec.method} needs plain weights"
        yield _error(message, fix="start from the unquantised model, or method: lora")
    if _rounds_away(spec, job, stored):
        yield Finding(
            code="trl.full_16bit",
            level="advice",
            message=f"weights kept in {stored} lose most updates of full training to rounding",
            fix="model.dtype: float32 (compute stays in 16 bits), or fsdp2, which keeps a float32 copy",
        )


def _rounds_away(spec: RunSpec, job: Job, stored: Any) -> bool:
    chosen = choose(spec, job)
    dtype = stored if chosen.dtype == "auto" else chosen.dtype
    keeps_copy = spec.hardware.sharding == "fsdp2" and chosen.precision != "fp32"
    return spec.method == "full" and dtype in ("bfloat16", "float16") and not keeps_copy


def _error(message: str, fix: str) -> Finding:
    return Finding(code="model.folder", level="error", message=message, fix=fix)
