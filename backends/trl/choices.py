"""What `auto` becomes on this machine, with the packages that the environment has."""

from __future__ import annotations

import math
from dataclasses import dataclass

from orchestrator.backend import Job
from orchestrator.spec import RunSpec

FLASH_2 = "flash-attn"
FLASH_3 = "flash-attn-3"


@dataclass(frozen=True)
class Choices:
    """Every `auto` of a spec, decided.

    Attributes:
        gpu: whether there is one.
        precision: fp32, bf16 or fp16.
        dtype: dtype argument of from_pretrained.
        attention: attn_implementation argument of from_pretrained.
        checkpointing: whether activations are recomputed.
        vllm: whether GRPO generates with vLLM.
    """

    gpu: bool
    precision: str
    dtype: str
    attention: str
    checkpointing: bool
    vllm: bool


def choose(spec: RunSpec, job: Job) -> Choices:
    """Decide every `auto`."""
    gpu, precision = bool(job.machine.gpus), _precision(spec, job)
    wanted = spec.training.gradient_checkpointing
    return Choices(
        gpu=gpu,
        precision=precision,
        dtype=_dtype(spec, precision, gpu),
        attention=_attention(spec, job, precision),
        checkpointing=gpu if wanted == "auto" else wanted,
        vllm=_vllm(spec, job),
    )


def capability(job: Job) -> float:
    """The lowest compute capability of the GPUs; infinite without any."""
    return min((gpu.capability for gpu in job.machine.gpus), default=math.inf)


def _precision(spec: RunSpec, job: Job) -> str:
    if spec.training.precision != "auto":
        return spec.training.precision
    return "bf16" if job.machine.bf16 else "fp32"


def _dtype(spec: RunSpec, precision: str, gpu: bool) -> str:
    """The compute dtype where `auto` would be wrong.

    QLoRA's unquantised parts would load a vision tower as bytes; and without a GPU, weights stored in bf16 would be
    trained in it: slower there than fp32, and too coarse for small updates.
    """
    if spec.model.dtype == "auto" and (spec.method == "qlora" or not gpu):
        return {"bf16": "bfloat16", "fp16": "float16"}.get(precision, "float32")
    return spec.model.dtype


def _attention(spec: RunSpec, job: Job, precision: str) -> str:
    if spec.model.attention != "auto":
        return spec.model.attention
    able = bool(job.machine.gpus) and capability(job) >= 8.0 and precision != "fp32"
    return "flash_attention_2" if able and job.has(FLASH_2) else "sdpa"


def _vllm(spec: RunSpec, job: Job) -> bool:
    if spec.stage != "grpo" or spec.rl.generation == "transformers":
        return False
    return spec.rl.generation == "vllm" or (bool(job.machine.gpus) and job.has("vllm"))
