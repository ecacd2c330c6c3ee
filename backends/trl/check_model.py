"""The model folder, looked at without a framework."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backends.trl.choices import choose
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_INDEX = "model.safetensors.index.json"


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """An adapter where a model should be, pickles, missing parts. A folder still to be made is not looked at."""
    path = Path(job.model.path)
    if job.model.adapter is not None:
        return [_adapter(job.model.adapter)]
    if not path.is_dir():
        gone = path.is_absolute() and job.model.label == "base"
        return [_error(f"there is no folder {path}", fix="correct model.path")] if gone else []
    if (path / "adapter_config.json").exists() and not (path / "config.json").exists():
        return [_adapter(str(path))]
    return [*_config(spec, job, path), *_weights(path), *_tokenizer(path)]


def _adapter(path: str) -> Finding:
    message = f"{path} is an adapter; trained on top of it, the reference would be the model below, not this one"
    return _error(message, fix="post-train merge RUN, then start from the merged model")


def _config(spec: RunSpec, job: Job, path: Path) -> Iterator[Finding]:
    try:
        config = json.loads((path / "config.json").read_text(encoding="utf-8"))
        text = config.get("text_config") or config
        stored = text.get("dtype") or text.get("torch_dtype") or config.get("dtype") or config.get("torch_dtype")
    except (OSError, ValueError, AttributeError) as error:
        yield _error(f"{path}/config.json: {error}", fix="give a complete model folder")
        return
    if config.get("quantization_config") and spec.method != "lora":
        message = f"{path} is quantised already; method {spec.method} needs plain weights"
        yield _error(message, fix="start from the unquantised model, or method: lora")
    if _rounds_away(spec, job, stored):
        yield Finding(
            code="trl.full_16bit",
            level="advice",
            message=f"weights kept in {stored} lose most updates of full training to rounding",
            fix="model.dtype: float32 (compute stays in 16 bits), or fsdp2, which keeps a float32 copy",
        )


def _rounds_away(spec: RunSpec, job: Job, stored: Any) -> bool:
    chosen = choose(spec, job)
    dtype = stored if chosen.dtype == "auto" else chosen.dtype
    keeps_copy = spec.hardware.sharding == "fsdp2" and chosen.precision != "fp32"
    return spec.method == "full" and dtype in ("bfloat16", "float16") and not keeps_copy


def _weights(path: Path) -> Iterator[Finding]:
    if not any(path.glob("*.safetensors")):
        pickles = sorted(file.name for file in path.glob("*.bin"))
        message = (
            f"{path} holds pickled weights ({pickles[0]}), which can run code when loaded"
            if pickles
            else f"{path} has no weights"
        )
        yield _error(
            message, fix="give a folder with .safetensors files, e.g. saved anew by transformers' save_pretrained"
        )
        return
    try:
        wanted = set(json.loads((path / _INDEX).read_text(encoding="utf-8"))["weight_map"].values())
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, AttributeError) as error:
        yield _error(f"{path}/{_INDEX}: {error}", fix="copy the model folder again")
        return
    missing = sorted(name for name in wanted if not (path / name).is_file())
    if missing:
        yield _error(
            f"{path} lacks {len(missing)} of {len(wanted)} weight files, e.g. {missing[0]}",
            fix="copy the model folder again",
        )


def _tokenizer(path: Path) -> Iterator[Finding]:
    if not any(
        (path / name).exists() for name in ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json")
    ):
        yield _error(f"{path} has no tokenizer", fix="copy the tokenizer files of the model into it")


def _error(message: str, fix: str) -> Finding:
    return Finding(code="model.folder", level="error", message=message, fix=fix)
