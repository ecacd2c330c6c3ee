"""A prepared folder where a data file is expected: its files by use, and its manifest as something a run comes from."""

from __future__ import annotations

from pathlib import Path

from data_prep import manifest
from data_prep.faults import DataFault
from data_prep.manifest import DataManifest
from orchestrator.recipe import Settings, Value
from orchestrator.spec import RunSpec, Stage

_HELD_OUT = {"sft", "dpo"}
"""Stages for which a validation loss costs little, so that it comes by itself."""


def expand(chosen: Settings, stage: Stage) -> Settings:
    """Settings with the files of prepared folders in place of the folders.

    Training takes `train.jsonl`; sft and dpo take `validation.jsonl` too where no other held-out rows are named. Items
    of eval are those of `test.jsonl`, else of `validation.jsonl`.
    """
    found = dict(chosen)
    for setting in ("data.train", "data.eval"):
        given = chosen.get(setting)
        if given is None or not isinstance(given.value, str) or not is_folder(given.value):
            continue
        folder = Path(given.value).expanduser().absolute()
        found[setting] = Value(str(_file(folder, setting, stage)), given.origin)
        held = folder / "validation.jsonl"
        if setting == "data.train" and stage in _HELD_OUT and held.exists() and "data.eval" not in chosen:
            found["data.eval"] = Value(str(held), f"{given.origin}, its validation rows")
    return found


def is_folder(name: str) -> bool:
    """Whether a path is a prepared folder."""
    folder = Path(name).expanduser()
    return folder.is_dir() and manifest.is_prepared(folder)


def _file(folder: Path, setting: str, stage: Stage) -> Path:
    if setting == "data.train":
        return folder / "train.jsonl"
    names = ("test.jsonl", "validation.jsonl") if stage == "eval" else ("validation.jsonl", "test.jsonl")
    return next((folder / name for name in names if (folder / name).exists()), folder / names[0])


def of(path: Path) -> DataManifest | None:
    """The manifest that a data file belongs to; None where it is no part of prepared data.

    Raises:
        DataFault: the manifest is damaged.
    """
    if not manifest.is_prepared(path.parent):
        return None
    found = manifest.read(path.parent)
    return found if any(split.file == path.name for split in found.splits.values()) else None


def digest(path: Path) -> str | None:
    """sha256 of the manifest that a data file belongs to; None where it belongs to none or that is damaged."""
    try:
        return f"sha256:{manifest.digest(path.parent)}" if of(path) else None
    except (DataFault, OSError):
        return None


def files(spec: RunSpec) -> dict[str, Path]:
    """Setting -> data file of a stage."""
    held_out = spec.rl.held_out if spec.stage == "grpo" else None
    named = {"data.train": spec.data.train, "data.eval": spec.data.eval, "rl.held_out": held_out}
    return {setting: Path(path) for setting, path in named.items() if path}
