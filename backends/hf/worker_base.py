"""Is this the base that the adapter was trained on? Shapes are no proof: an adapter fits every sibling of its base."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from backends.hf import folders
from backends.hf.worker_adapter import Adapter
from orchestrator.harness import Harness, WorkError

_WHY = "an adapter is a difference to one set of weights; on others it gives a model that nobody trained"


def check(harness: Harness, adapter: Adapter, model: dict[str, Any], folder: Path) -> None:
    """Compare the base given with the one in adapter_config.json.

    Raises:
        WorkError: they differ, or nothing shows that they agree.
    """
    recorded, given = adapter.config.get("base_model_name_or_path"), str(model["path"])
    if not recorded:
        harness.events.emit(
            "warning", code="adapter.base_unknown", message=f"{adapter.folder} doesn't say which base it was trained on"
        )
        return
    if recorded == given or _same_place(recorded, folder) or _same_weights(recorded, folder):
        return
    if folders.is_hub_name(recorded) and Path(recorded).name == Path(given).name:
        message = f"the adapter was trained on {recorded!r}; of {given} only the name shows that it is the same"
        harness.events.emit("warning", code="adapter.base_by_name", message=message)
        return
    config_file = adapter.folder / folders.ADAPTER_CONFIG
    raise WorkError(
        "adapter.base",
        f"the adapter was trained on {recorded!r}, not on {given!r}",
        why=_WHY,
        fix=f"give that base, or, when it only moved, set base_model_name_or_path in {config_file}",
    )


def _same_place(recorded: str, folder: Path) -> bool:
    cached = f"models--{recorded.replace('/', '--')}"
    return Path(recorded).resolve() == folder.resolve() or cached in folder.parts


def _same_weights(recorded: str, folder: Path) -> bool:
    other = Path(recorded)
    if not other.is_dir() or folders.model_problem(other):
        return False
    ours, theirs = (sorted(folders.weight_files(f)) for f in (folder, other))
    if ours != theirs or any((folder / n).stat().st_size != (other / n).stat().st_size for n in ours):
        return False
    return all(_digest(folder / n) == _digest(other / n) for n in ours)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
