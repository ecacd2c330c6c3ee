"""What was named -> the files to read, each with its name and, where the layout says so, its split."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from data_prep.faults import DataFault
from data_prep.opening import require_file
from data_prep.splits import Split

_ROWS = {".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow"}
_PACKED = {".gz", ".zst", ".bz2", ".xz"}
_ASIDE = {"dataset_info.json", "dataset_infos.json", "state.json", "dataset_dict.json", "manifest.json", "ledger.jsonl"}
_SPLITS: dict[str, Split] = {
    "train": "train",
    "training": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
}
_MOST = 10_000


@dataclass(frozen=True)
class Input:
    """A file to read.

    Attributes:
        name: how it is told of: relative to what was named.
        root: the folder that nothing of it may lead out of.
    """

    path: Path
    name: str
    root: Path
    split: Split | None = None


def inputs(named: list[Path]) -> list[Input]:
    """The files behind files and folders.

    Raises:
        DataFault: nothing there, no rows below a folder, or a link that leads out of it.
    """
    found = [each for path in named for each in (_below(path) if path.is_dir() else [_file(path)])]
    names = [each.name for each in found]
    told = [each if names.count(each.name) == 1 else replace(each, name=_told(str(each.path))) for each in found]
    return _with_splits(told)


def _file(path: Path) -> Input:
    require_file(path)
    return Input(path, _told(path.name), path.resolve().parent)


def _told(name: str) -> str:
    """A file's name as text: bytes of it that are no letters are written out."""
    return name.encode("utf-8", "backslashreplace").decode()


def _below(folder: Path) -> list[Input]:
    paths = _saved(folder) if (folder / "state.json").is_file() else sorted(_candidates(folder))
    if not paths:
        kinds = ", ".join(sorted(_ROWS))
        raise DataFault(f"no file of rows below this folder ({kinds})", where=str(folder), fix="name the file itself")
    return listed(folder, paths)


def listed(folder: Path, paths: list[Path], *, links: bool = False) -> list[Input]:
    """Files below a folder, each with its split where all are named by one.

    Args:
        links: links may lead out of the folder, as those of the hub's own cache do.

    Raises:
        DataFault: a link leads out of it.
    """
    root = folder.resolve()
    for path in paths:
        if not links and not path.resolve().is_relative_to(root):
            raise DataFault("a link that leads out of the folder", where=str(path), fix="name the file it leads to")
    found = [
        Input(path, _told(str(path.relative_to(folder))), root, _split(path.relative_to(folder))) for path in paths
    ]
    return _with_splits(found)


def _with_splits(found: list[Input]) -> list[Input]:
    """Names tell splits where they tell them of every file, and of two at least."""
    splits = {each.split for each in found}
    if len(splits) > 1 and None not in splits:
        return found
    return [Input(each.path, each.name, each.root) for each in found]


def _candidates(folder: Path) -> list[Path]:
    found = list[Path]()
    for path in folder.rglob("*"):
        endings = [ending.lower() for ending in path.suffixes]
        ending = endings[-2] if len(endings) > 1 and endings[-1] in _PACKED else (endings or [""])[-1]
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if ending in _ROWS and not _aside(path.name) and not hidden and not path.is_dir():
            found.append(path)
        if len(found) > _MOST:
            raise DataFault(
                f"more than {_MOST:,} files below this folder", where=str(folder), fix="name a smaller folder"
            )
    return found


def _aside(name: str) -> bool:
    """Whether a file describes others, or was left by `datasets` for its own use."""
    return name in _ASIDE or (name.startswith("cache-") and name.endswith(".arrow"))


def _saved(folder: Path) -> list[Path]:
    """The files of a folder that `save_to_disk` of datasets wrote, in its order."""
    try:
        state = json.loads((folder / "state.json").read_bytes())
        return [folder / str(file["filename"]) for file in state["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataFault(f"a damaged `datasets` folder: {error}", where=str(folder / "state.json")) from None


def _split(relative: Path) -> Split | None:
    """The split that a name says, as train-00000-of-00001.parquet or train/data.jsonl do."""
    words = [word for part in reversed(relative.parts) for word in re.split(r"[^a-z]+", part.lower())]
    return next((_SPLITS[word] for word in words if word in _SPLITS), None)
