"""What a model is, from its folder; from its name while it is not on this machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from orchestrator.backend import ModelRef

_NAMES = {"muse_glimmer": r"muse[-_.]?glimmer", "muse_spark": r"muse[-_.]?spark", "qwen3": r"qwen3(?![.\d])"}
_HEADS = {"muse_glimmer": 2}
"""Key-value heads of models that come in one size."""


def telling(ref: ModelRef) -> Path:
    """The folder that tells what a model is: while it is still to be made, that of the one its chain began with."""
    own = Path(ref.path)
    return own if own.is_dir() or ref.origin is None else Path(ref.origin)


def config(model: Path) -> dict[str, Any]:
    """A folder's `config.json`; empty when there is none that can be read."""
    try:
        read = json.loads((model / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def text(model: Path) -> dict[str, Any]:
    """The part of it that is about the language model."""
    read = config(model)
    inner = read.get("text_config")
    return inner if isinstance(inner, dict) else read


def kind(model: Path) -> str:
    """Its `model_type`; empty when nothing tells."""
    said = config(model).get("model_type")
    if said or model.is_dir():
        return str(said or "")
    return next((name for name, form in _NAMES.items() if re.search(form, model.name, re.IGNORECASE)), "")


def heads(model: Path) -> int | None:
    """Key-value heads, as far as anything tells."""
    said = text(model).get("num_key_value_heads")
    return said if isinstance(said, int) else _HEADS.get(kind(model))
