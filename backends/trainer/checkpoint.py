"""Finds the newest checkpoint that is whole, and puts broken ones aside. Standard library only.

The engine takes the highest number without a look inside, and a checkpoint without optimizer state resumes silently
with another loss. A kill while saving leaves exactly such folders.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import zipfile
from pathlib import Path

from backends.trainer import saved
from orchestrator.events import EventWriter

_NAME = re.compile(r"checkpoint-(\d+)")

Broken = tuple[Path, str]
"""A checkpoint, and what is wrong with it."""


def newest_complete(folder: Path, ranks: int, events: EventWriter, run: Path | None = None) -> Path | None:
    """The newest whole checkpoint. Newer broken ones are renamed, so that the engine's rotation counts whole ones only.

    Args:
        ranks: processes that saved, and will resume.
        run: whose events say what was saved; None for a command run by hand.
    """
    whole, broken = look(folder, ranks, run)
    put_aside(broken, events)
    return whole


def look(folder: Path, ranks: int, run: Path | None = None) -> tuple[Path | None, list[Broken]]:
    """The newest whole checkpoint, and the broken ones that are newer. Touches nothing: every rank may look.

    Args:
        ranks: processes that saved, and will resume.
        run: whose events say what was saved; None for a command run by hand.
    """
    recorded = saved.of(run)
    found = [(int(m.group(1)), path) for path in folder.glob("checkpoint-*") if (m := _NAME.fullmatch(path.name))]
    broken: list[Broken] = []
    for step, path in sorted(found, reverse=True):
        fault = first_fault(path, step, ranks) or saved.fault(path, recorded)
        if fault is None:
            return path, broken
        broken.append((path, fault))
    return None, broken


def put_aside(broken: list[Broken], events: EventWriter) -> None:
    """Give broken checkpoints another name, and say so."""
    for path, fault in broken:
        aside = path.with_name(f"broken-{path.name}")
        shutil.rmtree(aside, ignore_errors=True)
        path.rename(aside)
        message = f"{path.name} is passed over: {fault}; it is now {aside.name} and can be deleted"
        events.emit("warning", code="checkpoint.broken", message=message)


def first_fault(path: Path, step: int, ranks: int) -> str | None:
    """What is wrong with a checkpoint, or None when it is whole."""
    return _state(path, step) or _optimizer(path, ranks) or _random(path, ranks) or _weights(path, ranks)


def _state(path: Path, step: int) -> str | None:
    try:
        state = json.loads((path / "trainer_state.json").read_text(encoding="utf-8"))
        return None if state["global_step"] == step else f"trainer_state.json is of step {state['global_step']}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"trainer_state.json: {error}"


def _optimizer(path: Path, ranks: int) -> str | None:
    sharded = path / "optimizer_0"
    files = [path / "optimizer.bin"] if (path / "optimizer.bin").exists() else [path / "optimizer.pt"]
    faults = [_shards(sharded, ranks)] if sharded.is_dir() else [_archive(file) for file in files]
    return next(filter(None, [*faults, _archive(path / "scheduler.pt")]), None)


def _random(path: Path, ranks: int) -> str | None:
    names = ["rng_state.pth"] if ranks == 1 else [f"rng_state_{rank}.pth" for rank in range(ranks)]
    return next(filter(None, (_archive(path / name) for name in names)), None)


def _weights(path: Path, ranks: int) -> str | None:
    sharded = path / "pytorch_model_fsdp_0"
    if sharded.is_dir():
        return _shards(sharded, ranks)
    files = sorted(path.glob("*.safetensors"))
    if not files:
        return "no weights"
    return next(filter(None, [_index(path), *(_safetensors(file) for file in files)]), None)


def _shards(folder: Path, ranks: int) -> str | None:
    """`.metadata` is written last, after every rank's file."""
    wanted = [folder / ".metadata", *(folder / f"__{rank}_0.distcp" for rank in range(ranks))]
    missing = [file.name for file in wanted if not file.is_file() or file.stat().st_size == 0]
    return f"{folder.name} lacks {missing}" if missing else None


def _archive(path: Path) -> str | None:
    """torch writes zip files, whose directory comes last."""
    if not path.is_file():
        return f"{path.name} is missing"
    return None if zipfile.is_zipfile(path) else f"{path.name} is truncated"


def _index(path: Path) -> str | None:
    index = path / "model.safetensors.index.json"
    if not index.exists():
        return None
    try:
        wanted = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    except (ValueError, KeyError, AttributeError) as error:
        return f"{index.name}: {error}"
    missing = sorted(name for name in wanted if not (path / name).is_file())
    return f"{index.name} names files that are missing: {missing}" if missing else None


def _safetensors(path: Path) -> str | None:
    """The header says where the last tensor ends; that must be the end of the file."""
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length)) if length < size else {}
    except (struct.error, ValueError):
        return f"{path.name}: no safetensors header"
    end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
    return None if end and size == 8 + length + end else f"{path.name} is truncated"
