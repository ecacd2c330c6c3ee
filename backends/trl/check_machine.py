"""What the machine and the environment can't do."""

from __future__ import annotations

from collections.abc import Iterator

from backends.trl.choices import FLASH_2, FLASH_3, capability, choose
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_INSTALL = "post-train backends install trl --with {package}"


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Precision, attention, generation and packages."""
    return [*_precision(spec, job), *_attention(spec, job), *_generation(spec, job), *_packages(spec, job)]


def _precision(spec: RunSpec, job: Job) -> Iterator[Finding]:
    precision, gpus = spec.training.precision, job.machine.gpus
    if precision == "bf16" and gpus and not job.machine.bf16:
        yield _error("precision", f"{gpus[0].name} doesn't compute in bf16", fix="training.precision: fp16, or auto")
    if precision != "fp16":
        return
    if not gpus:
        yield _error("precision", "fp16 needs a GPU: its loss scaling has no CPU form", fix="training.precision: auto")
    if spec.method == "full" and spec.model.dtype != "float32":
        yield _error("precision", "fp16 can't unscale gradients of fp16 or bf16 weights", fix="model.dtype: float32")
    if spec.method == "qlora":
        message = "TRL keeps QLoRA adapters in bf16, whose gradients fp16 loss scaling can't unscale"
        yield _error("precision", message, fix="training.precision: bf16 or fp32, or method: lora")


def _attention(spec: RunSpec, job: Job) -> Iterator[Finding]:
    wanted = spec.model.attention
    needs = {"flash_attention_2": (8.0, FLASH_2), "flash_attention_3": (9.0, FLASH_3)}
    if wanted not in needs:
        return
    lowest, package = needs[wanted]
    if not job.machine.gpus or capability(job) < lowest:
        yield _error("attention", f"{wanted} needs a GPU of compute capability {lowest}", fix="model.attention: auto")
    elif job.packages is not None and not job.has(package):
        fix = f"model.attention: auto, or {_INSTALL.format(package=package)}"
        yield _error("attention", f"{wanted} needs the package {package}", fix=fix)
    if choose(spec, job).precision == "fp32":
        yield _error(
            "attention", f"{wanted} computes in 16 bits only", fix="training.precision: bf16, or model.attention: sdpa"
        )


def _generation(spec: RunSpec, job: Job) -> Iterator[Finding]:
    if spec.stage != "grpo" or spec.rl.generation != "vllm":
        return
    if not job.machine.gpus:
        yield _error("generation", "generation with vLLM needs a GPU", fix="rl.generation: auto")
    elif job.packages is not None and not job.has("vllm"):
        fix = f"rl.generation: auto, or {_INSTALL.format(package='vllm')}"
        yield _error("generation", "vLLM is not in the trl environment", fix=fix)


def _packages(spec: RunSpec, job: Job) -> Iterator[Finding]:
    if job.packages is None:
        return
    for package, wanted in _wanted(spec).items():
        if wanted and not job.has(package):
            message = f"{wanted} needs the package {package}, which is not in the trl environment"
            yield _error("package", message, fix=f"{_INSTALL.format(package=package)}, or remove {wanted}")


def _wanted(spec: RunSpec) -> dict[str, str]:
    """Package -> the setting that needs it, empty when none does."""
    quantised = "method: qlora" if spec.method == "qlora" else ""
    eight_bit = any(mark in spec.training.optimizer for mark in ("bnb", "8bit", "paged"))
    return {
        "bitsandbytes": quantised or (f"training.optimizer: {spec.training.optimizer}" if eight_bit else ""),
        "wandb": "tracking.wandb" if spec.tracking.wandb != "off" else "",
        "tensorboard": "tracking.tensorboard" if spec.tracking.tensorboard else "",
        "trackio": "tracking.trackio" if spec.tracking.trackio else "",
    }


def _error(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"trl.{code}", level="error", message=message, fix=fix)
