"""RunSpec and Job -> `config_registry.py`, the launch, the artifact promised. Pure."""

from __future__ import annotations

from pathlib import Path

from backends.titanrl import generation, models, settings
from backends.titanrl.values import GLIMMER, Choice
from orchestrator.backend import Expected, Job, LaunchSpec, Native, NativeFile
from orchestrator.spec import RunSpec

WORKER = "backends.titanrl.worker"
MODULE = "titan"
"""Folder in `native/`, which TitanRL imports by this name."""
REGISTRY = f"native/{MODULE}/config_registry.py"
CPU = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_USE_V2_MODEL_RUNNER": "0",
    "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
    "TORCHSTORE_RDMA_ENABLED": "0",
    "TORCH_COMPILE_DISABLE": "1",
}
"""Without a GPU: a GiB of key-value cache instead of most of the memory, the loopback, and no compiler."""


def materialize(spec: RunSpec, job: Job) -> Native:
    """One Python file in TitanRL's own style, started through TitanRL's own main function."""
    titan, model = settings.read(spec), models.telling(job.model)
    found = generation.of(titan, job)
    assert found is not None, "check refuses what is of no known generation"
    choice = Choice(bool(job.machine.gpus), models.kind(model), renderer(titan.renderer, model), stored(model))
    return Native(
        files=(NativeFile(path=REGISTRY, content=found.text(spec, job, titan, choice)),),
        launch=LaunchSpec(module=WORKER, args=(str(job.run_dir / REGISTRY),), env=_environment(spec, choice.gpu)),
        expected=(Expected(kind="model", path="artifacts/model"),),
    )


def renderer(asked: str, model: Path) -> str:
    """The model's own where there is one, `default` (the chat template) for any other.

    For a Qwen3 that is `qwen3` where the tokenizer has that format's marks.
    """
    if asked != "auto":
        return asked
    kind = models.kind(model)
    if kind == GLIMMER:
        return GLIMMER
    try:
        tokens = (model / "tokenizer.json").read_text(encoding="utf-8")
    except OSError:
        return "qwen3" if kind == "qwen3" and not model.is_dir() else "default"
    marks = ("<|im_start|>", "<|im_end|>", "<tool_call>", "<think>")
    return "qwen3" if kind == "qwen3" and all(f'"{mark}"' in tokens for mark in marks) else "default"


def stored(model: Path) -> str:
    """The dtype that the model is stored in, which the result is stored in too; float32 where nothing is said.

    A model that is not here counts as bfloat16, as hubs have them.
    """
    read = models.config(model)
    said = str(read.get("dtype") or read.get("torch_dtype") or ("float32" if model.is_dir() else "bfloat16"))
    return said if said in ("float16", "bfloat16") else "float32"


def _environment(spec: RunSpec, gpu: bool) -> dict[str, str]:
    return {
        "OMP_NUM_THREADS": str(spec.hardware.threads or 1),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "HYPERACTOR_CODEC_MAX_FRAME_LENGTH": "910737418240",
        **({} if gpu else CPU),
    }
