"""Whether a prepared folder is already what would be made: the same input and options need no second reading."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from data_prep import manifest as manifests
from data_prep.faults import DataFault
from data_prep.inputs import Input, inputs
from data_prep.manifest import DataManifest
from data_prep.options import Options
from data_prep.prepare import key

_NOTE = ".inputs.json"
"""Remembers the digests of inputs by size and time of change. Not part of the data."""


def fresh(folder: Path, files: list[Input], options: Options) -> DataManifest | None:
    """The manifest of a folder that holds what these files and options make; None if it holds something else."""
    if not manifests.is_prepared(folder):
        return None
    try:
        found = manifests.read(folder)
    except DataFault:
        return None
    known = _remembered(folder)
    names = {source.name for source in found.sources}  # with a limit, reading may have stopped before the last file
    files = [file for file in files if not options.limit or file.name in names]
    read = [*files, *inputs(list(options.against))]
    contents = [(file.name, known.get(_state(file.path)) or _digest(file.path)) for file in read]
    if found.key != key(contents, options) or not _whole(folder, found):
        return None
    _write(folder, {_state(file.path): sha256 for file, (_, sha256) in zip(read, contents, strict=True)})
    return found


def remember(folder: Path, files: list[Input], made: DataManifest) -> None:
    """Write down what the inputs are now."""
    digests = {source.name: source.sha256 for source in made.sources}
    _write(folder, {_state(file.path): digests[file.name] for file in files if file.name in digests})


def _write(folder: Path, states: dict[str, str]) -> None:
    (folder / _NOTE).write_text(json.dumps(states), encoding="utf-8")


def _whole(folder: Path, found: DataManifest) -> bool:
    files = [*found.splits.values(), found.ledger]
    return all((folder / f.file).is_file() and (folder / f.file).stat().st_size == f.size for f in files)


def _remembered(folder: Path) -> dict[str, str]:
    try:
        known = json.loads((folder / _NOTE).read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _state(path: Path) -> str:
    stat = path.stat()
    return f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
