"""The model folder that training starts from, looked at without a framework."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from orchestrator.backend import ModelRef
from orchestrator.findings import Finding
from orchestrator.preflight import endtoken

_INDEX = "model.safetensors.index.json"
_TOKENIZER = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json")


def check(model: ModelRef) -> list[Finding]:
    """An adapter where a model should be, pickles, missing parts. A folder still to be made is not looked at."""
    path = Path(model.path)
    if model.adapter is not None:
        return [_adapter(model.adapter)]
    if not path.is_dir():
        gone = path.is_absolute() and model.label == "base"
        return [_error(f"there is no folder {path}", fix="correct model.path")] if gone else []
    if (path / "adapter_config.json").exists() and not (path / "config.json").exists():
        return [_adapter(str(path))]
    return [*_config(path), *_weights(path), *_tokenizer(path), *endtoken.check(path)]


def _adapter(path: str) -> Finding:
    message = f"{path} is an adapter; trained on top of it, the reference would be the model below, not this one"
    return _error(message, fix="post-train merge RUN, then start from the merged model")


def _config(path: Path) -> Iterator[Finding]:
    try:
        if not isinstance(json.loads((path / "config.json").read_text(encoding="utf-8")), dict):
            yield _error(f"{path}/config.json: not an object", fix="give a complete model folder")
    except (OSError, ValueError) as error:
        yield _error(f"{path}/config.json: {error}", fix="give a complete model folder")


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
    if not any((path / name).exists() for name in _TOKENIZER):
        yield _error(f"{path} has no tokenizer", fix="copy the tokenizer files of the model into it")


def _error(message: str, fix: str) -> Finding:
    return Finding(code="model.folder", level="error", message=message, fix=fix)
