"""What `auto` becomes on this machine, with the packages that the environment has."""

from __future__ import annotations

import math
from dataclasses import dataclass

from orchestrator.backend import Job
from orchestrator.spec import RunSpec

FLASH = {"flash_attention_2": (8.0, "flash-attn"), "flash_attention_3": (9.0, "flash-attn-3")}
"""Attention kernel -> the lowest compute capability it runs on, and the package it comes from."""


@dataclass(frozen=True)
class Choices:
    """Every `auto` of a spec, decided.

    Attributes:
        gpu: whether there is one.
        precision: fp32, bf16 or fp16; Axolotl loads the weights in it too.
        attention: attn_implementation.
        checkpointing: whether activations are recomputed.
    """

    gpu: bool
    precision: str
    attention: str
    checkpointing: bool


def choose(spec: RunSpec, job: Job) -> Choices:
    """Decide every `auto`."""
    precision = spec.training.precision
    if precision == "auto":
        precision = "bf16" if job.machine.bf16 else "fp32"
    return Choices(
        gpu=bool(job.machine.gpus),
        precision=precision,
        attention=_attention(spec, job, precision),
        checkpointing=_checkpointing(spec, job),
    )


def capability(job: Job) -> float:
    """The lowest compute capability of the GPUs; infinite without any."""
    return min((gpu.capability for gpu in job.machine.gpus), default=math.inf)


def bitsandbytes(optimizer: str) -> bool:
    """Whether an optimizer is one of bitsandbytes': `adamw_torch_8bit` and the like are torchao's."""
    ours = any(mark in optimizer for mark in ("bnb", "8bit", "paged"))
    return ours and not any(mark in optimizer for mark in ("torch", "ao_"))


def _attention(spec: RunSpec, job: Job, precision: str) -> str:
    """Never a kernel that is not there: asked for one, the engine would fetch it from the hub."""
    if spec.model.attention != "auto":
        return spec.model.attention
    lowest, package = FLASH["flash_attention_2"]
    able = bool(job.machine.gpus) and capability(job) >= lowest and precision != "fp32"
    return "flash_attention_2" if able and job.has(package) else "sdpa"


def _checkpointing(spec: RunSpec, job: Job) -> bool:
    """Off for adapters under FSDP2: its wrappers leak into the names of the gathered adapter (Axolotl 0.19.0)."""
    if spec.training.gradient_checkpointing != "auto":
        return spec.training.gradient_checkpointing
    return bool(job.machine.gpus) and not (spec.hardware.sharding == "fsdp2" and spec.method != "full")
