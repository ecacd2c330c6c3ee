"""What a model or adapter folder must hold before anything heavy looks at it. Standard library only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"

_CONVERT = "load it where it is trusted and save it again with save_pretrained(FOLDER), which writes safetensors"


@dataclass(frozen=True)
class Problem:
    """Something wrong with a folder: a stable code, what and why, and the mending step."""

    code: str
    message: str
    fix: str


def is_hub_name(path: str) -> bool:
    """Whether `path` can only be a name on the hub: no folder here, and not written like a path."""
    return not Path(path).exists() and not path.startswith(("/", ".", "~")) and path.count("/") <= 1


def awaits_parent(path: Path) -> bool:
    """Whether the folder is the artifact of a run that is planned but not started."""
    return path.parent.name == "artifacts" and not path.parent.parent.exists()


def model_problem(folder: Path) -> Problem | None:
    """The first thing that keeps this folder from being a full model."""
    if not folder.is_dir():
        return Problem(
            "model.missing",
            f"no model folder at {folder}",
            "give a folder with config.json and safetensors, or a hub name",
        )
    if (folder / ADAPTER_CONFIG).exists() and not (folder / "config.json").exists():
        return Problem(
            "model.is_adapter",
            f"{folder} holds an adapter, not a full model",
            "name the run (--from) or merge it first",
        )
    config = read_json(folder / "config.json")
    if isinstance(config, Problem):
        return config
    return _weights_problem(folder)


def adapter_problem(folder: Path) -> Problem | None:
    """The first thing that keeps this folder from being an adapter."""
    if not folder.is_dir():
        return Problem("adapter.missing", f"no adapter folder at {folder}", "train one first: post-train sft")
    config = read_json(folder / ADAPTER_CONFIG)
    if isinstance(config, Problem):
        return config
    if (folder / ADAPTER_WEIGHTS).is_file():
        return None
    if (folder / "adapter_model.bin").exists():
        return Problem(
            "adapter.pickle", f"{folder} holds its weights as a pickle, which can run code when read", _CONVERT
        )
    return Problem(
        "adapter.weights", f"{folder} holds no {ADAPTER_WEIGHTS}", "train the adapter again, or copy the whole folder"
    )


def weight_files(folder: Path) -> dict[str, set[str] | None]:
    """File name -> tensor names that the index promises in it; None for a single file without an index."""
    if not (folder / INDEX).exists():
        return {WEIGHTS: None}
    promised: dict[str, set[str] | None] = {}
    for tensor, name in json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].items():
        names = promised.setdefault(str(name), set())
        names.add(tensor) if names is not None else None
    return dict(sorted(promised.items()))


def read_json(path: Path) -> dict[str, Any] | Problem:
    """A JSON object, or what is wrong with the file."""
    code = "adapter.config" if path.name == ADAPTER_CONFIG else "model.config"
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Problem(code, f"{path.parent} holds no {path.name}", "copy the whole folder, not only the weights")
    except (OSError, ValueError) as error:
        return Problem(code, f"{path} can't be read: {error}", "copy the folder again")
    return value if isinstance(value, dict) else Problem(code, f"{path} holds no JSON object", "copy the folder again")


def _weights_problem(folder: Path) -> Problem | None:
    if not (folder / INDEX).exists() and not (folder / WEIGHTS).exists():
        if any(folder.glob("pytorch_model*.bin")):
            return Problem(
                "model.pickle", f"{folder} holds its weights as a pickle, which can run code when read", _CONVERT
            )
        return Problem(
            "model.weights", f"{folder} holds no {WEIGHTS} and no {INDEX}", "copy or download the weights too"
        )
    index = read_json(folder / INDEX) if (folder / INDEX).exists() else {"weight_map": {}}
    if isinstance(index, Problem) or not isinstance(index.get("weight_map"), dict):
        return Problem("model.index", f"{folder / INDEX} is no weight index", "copy or download the folder again")
    missing = [name for name in weight_files(folder) if not (folder / name).is_file()]
    if missing:
        return Problem(
            "model.shard",
            f"{folder} lacks {', '.join(missing[:5])}, named in its index",
            "copy or download the missing file",
        )
    return None
