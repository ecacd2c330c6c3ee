"""What this machine has, found without a framework."""

from __future__ import annotations

import os
import platform
import re

from orchestrator import process
from orchestrator.spec import Part


class Gpu(Part):
    """One GPU: name, memory in bytes, CUDA compute capability such as 9.0."""

    name: str
    memory: int
    capability: float


class Machine(Part):
    """Cores, memory in bytes, GPUs."""

    cores: int
    memory: int
    gpus: tuple[Gpu, ...] = ()

    @property
    def bf16(self) -> bool:
        """Whether every GPU computes in bf16 natively (compute capability 8.0 and later)."""
        return bool(self.gpus) and all(g.capability >= 8.0 for g in self.gpus)

    @property
    def variant(self) -> str:
        """Which lock fits: `cuda` with a GPU, else `cpu`."""
        return "cuda" if self.gpus else "cpu"


def detect() -> Machine:
    """Look at this machine. A missing or failing nvidia-smi means no GPU."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return Machine(cores=cores, memory=_memory(), gpus=tuple(_gpus()))


def summary(machine: Machine) -> dict[str, object]:
    """The part of the machine that provenance keeps; no host name."""
    return {
        "cores": machine.cores,
        "memory": machine.memory,
        "gpus": [g.name for g in machine.gpus],
        "arch": platform.machine(),
    }


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _gpus() -> list[Gpu]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and not re.search(r"\w", visible.replace("-1", "")):
        return []
    query = ("nvidia-smi", "--query-gpu=name,memory.total,compute_cap", "--format=csv,noheader,nounits")
    outcome = process.run(query, timeout=20)
    if outcome.code != 0:
        return []
    gpus = [_gpu(line) for line in outcome.out.splitlines() if line.count(",") == 2]
    return gpus[: len(visible.split(","))] if visible else gpus


def _gpu(line: str) -> Gpu:
    name, mebibytes, capability = (part.strip() for part in line.split(","))
    # a GPU that shares the machine's memory reports none of its own: "[N/A]"
    memory = int(mebibytes) * 2**20 if mebibytes.isdecimal() else _memory()
    return Gpu(name=name, memory=memory, capability=float(capability))
