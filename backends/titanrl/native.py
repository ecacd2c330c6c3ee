"""RunSpec and Job -> `config_registry.py`, the launch, the artifact promised. Pure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backends.titanrl import registry_030, settings
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
    titan, model = settings.read(spec), Path(job.model.path)
    choice = registry_030.Choice(bool(job.machine.gpus), renderer(titan.renderer, model), stored(model))
    return Native(
        files=(NativeFile(path=REGISTRY, content=registry_030.text(spec, job, titan, choice)),),
        launch=LaunchSpec(module=WORKER, args=(str(job.run_dir / REGISTRY),), env=_environment(spec, choice.gpu)),
        expected=(Expected(kind="model", path="artifacts/model"),),
    )


def renderer(asked: str, model: Path) -> str:
    """`qwen3` where the tokenizer has that format's marks, `default` (the chat template) for any other."""
    if asked != "auto":
        return asked
    try:
        tokens = (model / "tokenizer.json").read_text(encoding="utf-8")
    except OSError:
        return "default"
    marks = ("<|im_start|>", "<|im_end|>", "<tool_call>", "<think>")
    return (
        "qwen3"
        if config(model).get("model_type") == "qwen3" and all(f'"{mark}"' in tokens for mark in marks)
        else "default"
    )


def stored(model: Path) -> str:
    """The dtype that the model is stored in, which the result is stored in too; float32 where nothing is said."""
    read = config(model)
    said = str(read.get("dtype") or read.get("torch_dtype") or "float32")
    return said if said in ("float16", "bfloat16") else "float32"


def config(model: Path) -> dict[str, Any]:
    """A folder's `config.json`; empty when there is none that can be read."""
    try:
        read = json.loads((model / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


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
