"""The weights to start from, as far as their headers tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orchestrator import sizing
from orchestrator.findings import Finding


def check(model: Path) -> Iterator[Finding]:
    """Safetensors files of a local model that are cut off or no such files; another model has none here."""
    for shard in sorted(model.glob("*.safetensors")) if model.is_dir() else ():
        wanted, have = sizing.whole(shard), shard.stat().st_size
        if wanted != have:
            what = f"{have:,} bytes, and its header promises {wanted:,}" if wanted else "no header that can be read"
            message = f"the weights are damaged: {what}"
            yield Finding(
                code="model.damaged",
                level="error",
                message=message,
                fix="copy the model folder again",
                where=str(shard),
            )
