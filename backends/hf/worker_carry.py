"""What a merged model needs beside its weights: configuration, tokenizer, template, processor, generation settings.

Files are copied byte for byte. The adapter's tokenizer and template win over the base's, because training used them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".h5", ".msgpack", ".onnx")
_TOKENIZER = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "tokenizer.model"),
    *("vocab.json", "vocab.txt", "merges.txt", "spiece.model"),
)
_TEMPLATE = ("chat_template.jinja", "chat_template.json")
_PROCESSOR = ("processor_config.json", "preprocessor_config.json", "video_preprocessor_config.json")


def carry(base: Path, adapter: Path, folder: Path, dtype: torch.dtype) -> None:
    """Copy everything but weights into `folder`, and declare the dtype that is stored there.

    A config.json that is already there (written with the weights) stays.
    """
    for source in sorted(base.iterdir()):
        if source.is_file() and not source.name.endswith((*_WEIGHTS, ".index.json")) and _wanted(source, folder):
            shutil.copyfile(source, folder / source.name)
    _overlay(adapter, folder)
    _declare(folder / "config.json", str(dtype).removeprefix("torch."))


def stop_at(folder: Path, token: int) -> None:
    """Make the merged model stop at the end token that its tokenizer was trained with, if it doesn't yet."""
    path = folder / "generation_config.json"
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    ends = settings.get("eos_token_id")
    known = ends if isinstance(ends, list) else [] if ends is None else [ends]
    if token not in known:
        settings["eos_token_id"] = [*known, token] if known else token
        _write(path, settings)


def _wanted(source: Path, folder: Path) -> bool:
    return not (source.name == "config.json" and (folder / source.name).exists()) and not source.name.startswith(".")


def _overlay(adapter: Path, folder: Path) -> None:
    if (adapter / "tokenizer_config.json").exists():
        for name in _TOKENIZER:
            (folder / name).unlink(missing_ok=True)
    if _has_template(adapter):
        for name in _TEMPLATE:
            (folder / name).unlink(missing_ok=True)
    for name in (*_TOKENIZER, *_TEMPLATE, *_PROCESSOR):
        if (adapter / name).exists():
            shutil.copyfile(adapter / name, folder / name)


def _has_template(adapter: Path) -> bool:
    if any((adapter / name).exists() for name in _TEMPLATE):
        return True
    config = adapter / "tokenizer_config.json"
    return config.exists() and bool(json.loads(config.read_text(encoding="utf-8")).get("chat_template"))


def _declare(path: Path, dtype: str) -> None:
    """Set the dtype wherever the configuration names one; nested parts included."""
    config = json.loads(path.read_text(encoding="utf-8"))
    for part in [config, *(v for v in config.values() if isinstance(v, dict))]:
        for key in ("dtype", "torch_dtype"):
            if part.get(key) is not None or (part is config and key == "dtype" and "torch_dtype" not in part):
                part[key] = dtype
    _write(path, config)


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
