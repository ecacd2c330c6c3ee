"""What the machine and the environment can't do."""

from __future__ import annotations

from collections.abc import Iterator

from backends.axolotl import schema
from backends.axolotl.choices import FLASH, bitsandbytes, capability, choose, installed
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_INSTALL = "post-train backends install axolotl --with {package}"


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Precision, attention and packages."""
    return [*_precision(spec, job), *_attention(spec, job), *_packages(spec, job), *_versions(spec, job)]


def _precision(spec: RunSpec, job: Job) -> Iterator[Finding]:
    precision, gpus = spec.training.precision, job.machine.gpus
    if precision == "bf16" and gpus and not job.machine.bf16:
        yield _error("precision", f"{gpus[0].name} doesn't compute in bf16", fix="training.precision: fp16, or auto")
    if precision == "fp16" and not gpus:
        yield _error("precision", "fp16 needs a GPU: its loss scaling has no CPU form", fix="training.precision: auto")
    loaded = {"bf16": "bfloat16", "fp16": "float16"}.get(choose(spec, job).precision, "float32")
    if spec.model.dtype not in ("auto", loaded):
        message = (
            f"Axolotl loads weights in the compute dtype, here {loaded}; model.dtype {spec.model.dtype} can't be had"
        )
        yield _error("dtype", message, fix="model.dtype: auto, or training.precision to match")


def _attention(spec: RunSpec, job: Job) -> Iterator[Finding]:
    wanted = spec.model.attention
    if wanted not in FLASH:
        return
    lowest, package = FLASH[wanted]
    if not job.machine.gpus or capability(job) < lowest:
        yield _error("attention", f"{wanted} needs a GPU of compute capability {lowest}", fix="model.attention: auto")
    elif job.packages is not None and not installed(job, package):
        message = f"{wanted} needs the package {package}; without it Axolotl fetches a kernel from the hub"
        yield _error("attention", message, fix="model.attention: auto, or docs/backends.md: compiled extensions")
    if choose(spec, job).precision == "fp32" and not any(spec.native.get(key) for key in ("float16", "bfloat16")):
        message = f"{wanted} computes in 16 bits only"
        yield _error("attention", message, fix="training.precision: bf16, or model.attention: sdpa")


def _packages(spec: RunSpec, job: Job) -> Iterator[Finding]:
    if job.packages is None:
        return
    for package, wanted in _wanted(spec).items():
        if wanted and not installed(job, package):
            message = f"{wanted} needs the package {package}, which is not in the axolotl environment"
            yield _error("package", message, fix=f"{_INSTALL.format(package=package)}, or remove {wanted}")


def _wanted(spec: RunSpec) -> dict[str, str]:
    """Package -> the setting that needs it, empty when none does."""
    quantised = "method: qlora" if spec.method == "qlora" else ""
    eight_bit = bitsandbytes(spec.training.optimizer)
    plugins = " ".join(schema.plugins(spec.native))
    return {
        "bitsandbytes": quantised or (f"training.optimizer: {spec.training.optimizer}" if eight_bit else ""),
        "torchvision": "native.processor_type" if spec.native.get("processor_type") else "",
        "cut-cross-entropy": "native.plugins: cut_cross_entropy" if "cut_cross_entropy" in plugins else "",
        "liger-kernel": "native.plugins: liger" if "integrations.liger" in plugins else "",
        "wandb": "tracking.wandb" if spec.tracking.wandb != "off" else "",
        "tensorboard": "tracking.tensorboard" if spec.tracking.tensorboard else "",
        "trackio": "tracking.trackio" if spec.tracking.trackio else "",
    }


def _versions(spec: RunSpec, job: Job) -> Iterator[Finding]:
    """Saving under FSDP2 leans on matching versions of several packages; the reload check at the end is the proof."""
    if job.packages is None or spec.hardware.sharding != "fsdp2":
        return
    pinned = schema.versions()
    other = [
        f"{n} {job.packages[n]} (here {v})" for n, v in pinned.items() if n in job.packages and _differs(job, n, v)
    ]
    if other:
        message = f"FSDP2 saves were tried with other versions than {', '.join(other)}; mismatches break the final save"
        fix = "post-train backends install axolotl, without --env"
        yield Finding(code="axolotl.versions", level="advice", message=message, fix=fix, where="hardware.sharding")


def _differs(job: Job, name: str, version: str) -> bool:
    return (job.packages or {})[name].partition("+")[0] != version


def _error(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"axolotl.{code}", level="error", message=message, fix=fix)
