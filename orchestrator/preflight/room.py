"""The folder, the disk and the memory, against what the stage will want."""

from __future__ import annotations

import shutil
from pathlib import Path

from orchestrator.findings import Finding, Level
from orchestrator.hardware import Machine
from orchestrator.sizing import Estimate


def check(estimate: Estimate | None, run_dir: Path, machine: Machine) -> list[Finding]:
    """A taken folder or a disk that will fill up is an error; memory and what a name tells are advice."""
    sized = (_disk(estimate, run_dir), _memory(estimate, machine)) if estimate else ()
    return [f for f in (_taken(run_dir), *sized) if f]


def _taken(run_dir: Path) -> Finding | None:
    if not run_dir.exists():
        return None
    message = "the output folder exists already; results are never mixed with or written over older ones"
    fix = "name another folder, or remove this one"
    return Finding(code="output.exists", level="error", message=message, fix=fix, where=str(run_dir))


def _disk(estimate: Estimate, run_dir: Path) -> Finding | None:
    there = next(p for p in (run_dir, *run_dir.parents) if p.exists())
    free = shutil.disk_usage(there).free
    if free >= estimate.disk:
        return None
    message = f"the run will take about {size(estimate.disk)}, and {size(free)} are free"
    level: Level = "advice" if estimate.named else "error"
    fix = "free some space, or use --runs"
    return Finding(code="disk.room", level=level, message=message, fix=fix, where=str(there))


def _memory(estimate: Estimate, machine: Machine) -> Finding | None:
    have = min((g.memory for g in machine.gpus), default=machine.memory)
    if estimate.memory <= have:
        return None
    message = f"weights, gradients and moments take about {size(estimate.memory)} a rank, and there are {size(have)}"
    fix = "use method qlora or lora, or shard over more ranks with fsdp2"
    return Finding(code="memory.room", level="advice", message=message, fix=fix, where="hardware")


def size(count: int) -> str:
    """Bytes for a person."""
    value, unit = float(count), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
