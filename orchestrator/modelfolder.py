"""What a model folder holds, as far as its files tell without a framework."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orchestrator import sizing


def config(model: Path) -> dict[str, Any]:
    """`config.json`; empty when there is none that can be read."""
    return _json(model / "config.json")


def modules(model: Path) -> set[str]:
    """Names of the modules that have stored weights, as the files call them; empty where none are here."""
    shards = sorted(model.glob("*.safetensors")) if model.is_dir() else []
    tensors = {name for shard in shards for name in sizing.header(shard) if name != "__metadata__"}
    return {name.rpartition(".")[0] for name in tensors} - {""}


def has_template(folder: Path) -> bool:
    """Whether tokenizer or processor come with a chat template, in any of the places where one can stand."""
    files = (folder / "chat_template.jinja", *folder.glob("additional_chat_templates/*.jinja"))
    named = ("tokenizer_config.json", "chat_template.json", "processor_config.json")
    return any(file.is_file() for file in files) or any(_json(folder / name).get("chat_template") for name in named)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
