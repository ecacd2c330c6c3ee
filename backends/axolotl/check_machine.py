"""What the machine and the environment can't do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.axolotl import schema
from backends.axolotl.choices import FLASH, bitsandbytes, capability, choose
from orchestrator import modelfolder
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_INSTALL = "post-train backends install axolotl --with {package}"
_BUILT, _VISION = ("flash-attn", "cut-cross-entropy"), "torchvision"
_FURTHER = ("comet-ml", "mlflow")
_FAMILY = "muse_glimmer"
"""Of the models tried here, the one whose image processor takes torchvision."""
_GPU_KERNELS = ("xformers", "sage", "fp8", "flash_attention_4", "flash_attention_torch")
"""Values of native.attn_implementation that there is no CPU code for."""


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
    given = spec.native.get("attn_implementation")
    if given in _GPU_KERNELS and not job.machine.gpus:
        fix = "remove native.attn_implementation"
        yield _error("attention", f"native.attn_implementation: {given} needs a GPU", fix=fix)
    if wanted not in FLASH:
        return
    lowest, package = FLASH[wanted]
    if not job.machine.gpus or capability(job) < lowest:
        yield _error("attention", f"{wanted} needs a GPU of compute capability {lowest}", fix="model.attention: auto")
    elif job.packages is not None and not job.has(package):
        message = f"{wanted} needs the package {package}; without it Axolotl fetches a kernel from the hub"
        yield _error("attention", message, fix="model.attention: auto, or docs/backends.md: compiled extensions")
    if choose(spec, job).precision == "fp32" and not any(spec.native.get(key) for key in ("float16", "bfloat16")):
        message = f"{wanted} computes in 16 bits only"
        yield _error("attention", message, fix="training.precision: bf16, or model.attention: sdpa")


def _packages(spec: RunSpec, job: Job) -> Iterator[Finding]:
    for package, wanted in _wanted(spec, job).items():
        if not wanted or _there(job, package):
            continue
        message = f"{wanted} needs the package {package}, which is not in the axolotl environment"
        yield _error("package", message, fix=_remedy(job, package, wanted))


def _there(job: Job, package: str) -> bool:
    """Of an environment that is still to be installed, the lock tells."""
    if job.packages is None:
        return package not in (*_BUILT, *_FURTHER) and (package != _VISION or bool(job.machine.gpus))
    return job.has(package)


def _remedy(job: Job, package: str, wanted: str) -> str:
    """Only what `backends install` does here: some are built, on a GPU; torchvision has to fit torch's build."""
    gpus = bool(job.machine.gpus)
    if package in _BUILT:
        built = f"post-train backends install axolotl --build {package}"
        return f"{built}, or remove {wanted}" if gpus else f"remove {wanted}; building {package} takes a GPU"
    if package == _VISION and not gpus:
        return "a machine with a GPU, whose lock has it; or --env with torch and torchvision both built for CPUs"
    return f"{_INSTALL.format(package=package)}, or remove {wanted}"


def _processor(spec: RunSpec, job: Job) -> str:
    """Axolotl loads the processor of a model with images whatever the rows are."""
    if spec.native.get("processor_type"):
        return "native.processor_type"
    path = Path(job.model.path)
    named = _FAMILY in path.name.lower().replace("-", "_")
    sees = modelfolder.config(path).get("model_type") == _FAMILY if path.is_dir() else named
    return "the model's image processor, which is loaded even for text," if sees else ""


def _wanted(spec: RunSpec, job: Job) -> dict[str, str]:
    """Package -> the setting that needs it, empty when none does."""
    bits = next((f"native.{key}" for key in ("load_in_4bit", "load_in_8bit") if spec.native.get(key)), "")
    quantised = "method: qlora" if spec.method == "qlora" else bits
    eight_bit = bitsandbytes(spec.training.optimizer)
    plugins = " ".join(schema.plugins(spec.native))
    return {
        "bitsandbytes": quantised or (f"training.optimizer: {spec.training.optimizer}" if eight_bit else ""),
        _VISION: _processor(spec, job),
        "cut-cross-entropy": "native.plugins: cut_cross_entropy" if "cut_cross_entropy" in plugins else "",
        "liger-kernel": "native.plugins: liger" if "integrations.liger" in plugins else "",
        "wandb": "tracking.wandb" if spec.tracking.wandb != "off" else "",
        "tensorboard": "tracking.tensorboard" if spec.tracking.tensorboard else "",
        "comet-ml": "native.use_comet" if spec.native.get("use_comet") else "",
        "mlflow": "native.use_mlflow" if spec.native.get("use_mlflow") else "",
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
