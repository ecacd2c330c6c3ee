"""Whether a prepared folder is already what would be made: the same input and options need no second reading.

Two files that are no part of the data remember what files were, by size, time of change and number: `.inputs.json` the
digests of inputs and of what was made, `.pictures.jsonl` every picture that was looked for, found or not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from data_prep import manifest as manifests
from data_prep.faults import DataFault
from data_prep.inputs import Input, inputs
from data_prep.jsontext import dump_plain
from data_prep.manifest import DataManifest, SplitFile
from data_prep.options import Options
from data_prep.pictures import state

_NOTE, _PICTURES = ".inputs.json", ".pictures.jsonl"
_ROOTS = "images"
"""Where the note keeps the folders that pictures were looked for in."""


def key(contents: list[tuple[str, str]], options: Options) -> str:
    """What a prepared folder is made from: names and digests of files, options, and the version of this code."""
    payload = {"contents": contents, "options": options.literals(), "schema": manifests.SCHEMA}
    return hashlib.sha256(dump_plain(payload)).hexdigest()


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
    made = [(folder / each.file, each) for each in _made(found)]
    if found.key != key(contents, options) or not all(_is_whole(path, each, known) for path, each in made):
        return None
    if not _same_pictures(folder, found, known, options):
        return None
    digests = {_state(file.path): sha256 for file, (_, sha256) in zip(read, contents, strict=True)}
    _write(folder, digests, found, options)
    return found


def remember(folder: Path, files: list[Input], made: DataManifest, options: Options) -> None:
    """Write down what the inputs are now."""
    digests = {source.name: source.sha256 for source in made.sources}
    states = {_state(file.path): digests[file.name] for file in files if file.name in digests}
    _write(folder, states, made, options)


def note_pictures(folder: Path, looked: dict[str, str]) -> None:
    """Write down pictures that were looked for, with what each was."""
    with (folder / _PICTURES).open("ab") as file:
        file.writelines(json.dumps(pair).encode() + b"\n" for pair in looked.items())


def _same_pictures(folder: Path, found: DataManifest, known: dict[str, Any], options: Options) -> bool:
    """Whether every picture is what it was; those that were not there are still not."""
    file = folder / _PICTURES
    if not file.exists():
        return not found.images
    if known.get(_ROOTS) != _roots(options):
        return False
    with file.open(encoding="utf-8") as lines:
        return all(state(Path(path)) == was for path, was in map(json.loads, lines))


def _roots(options: Options) -> list[list[str]]:
    return [[start, str(folder.resolve())] for start, folder in options.images]


def _write(folder: Path, states: dict[str, str], made: DataManifest, options: Options) -> None:
    ours = {_state(folder / each.file): each.sha256 for each in _made(made)}
    (folder / _NOTE).write_text(json.dumps({**states, **ours, _ROOTS: _roots(options)}), encoding="utf-8")


def _made(found: DataManifest) -> Iterable[SplitFile]:
    return [*found.splits.values(), found.ledger]


def _is_whole(path: Path, recorded: SplitFile, known: dict[str, Any]) -> bool:
    if not path.is_file() or path.stat().st_size != recorded.size:
        return False
    return (known.get(_state(path)) or _digest(path)) == recorded.sha256


def _remembered(folder: Path) -> dict[str, Any]:
    try:
        known = json.loads((folder / _NOTE).read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _state(path: Path) -> str:
    return f"{path.resolve()}|{state(path)}"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
