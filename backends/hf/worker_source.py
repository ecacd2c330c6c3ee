"""Where a model's files lie: a folder here, or a snapshot from the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from backends.hf import folders
from orchestrator.harness import WorkError

_NEEDED = ["*.json", "*.safetensors", "*.jinja", "*.txt", "*.model", "*.py"]


def model_folder(model: dict[str, Any]) -> Path:
    """The folder of a model reference, downloaded when it is a hub name, checked either way.

    Raises:
        WorkError: nothing there, or no safetensors.
    """
    folder = _snapshot(model) if folders.is_hub_name(model["path"]) else Path(model["path"])
    refuse(folders.model_problem(folder))
    return folder


def adapter_folder(path: str) -> Path:
    """An adapter's folder, checked."""
    refuse(folders.adapter_problem(Path(path)))
    return Path(path)


def refuse(problem: folders.Problem | None) -> None:
    """Raise a problem as the reason this work fails."""
    if problem:
        raise WorkError(problem.code, problem.message, fix=problem.fix)


def _snapshot(model: dict[str, Any]) -> Path:
    name, revision = model["path"], model["revision"]
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=_NEEDED))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        first = str(error).strip().splitlines()[0]
        raise WorkError(
            "model.missing",
            f"{name!r} is no folder here and can't be had from the hub: {first}",
            fix="check the name, log in to the hub if the model is gated, or give a local folder",
        ) from error
