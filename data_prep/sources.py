"""Sets with a name: where each lies, at which revision, and which of its files are read.

A mirror is a folder with the files of the source under their own paths; nothing else differs from reading the hub.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from data_prep.faults import DataFault
from data_prep.inputs import Input, inputs, listed
from data_prep.needs import needed
from data_prep.options import Options

ANY = "**/*"
_PATIENCE = 10.0
"""Seconds that the hub may take for its first answer."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class Source:
    """A set on the hub.

    Attributes:
        repository: its name there.
        revision: the commit that is read.
        files: pattern of the files that hold its rows.
        format: layout of the rows; recognised where it is None.
        licence: as its page states it.
    """

    repository: str
    revision: str | None
    files: str
    format: str | None = None
    licence: str | None = None


SOURCES = {
    "cosyn-circuit": Source(
        "allenai/CoSyn-400K", "f1d5552289c394ff4b04320775676f98dd6e7021", "circuit/*.parquet", "cosyn", "odc-by"
    ),
    "tulu": Source(
        "allenai/tulu-3-sft-personas-instruction-following",
        "debe6eac7717c41200c69ab48d81fe622be67826",
        "data/train-*.parquet",
        "messages",
        "odc-by",
    ),
    "docmatix": Source(
        "HuggingFaceM4/Docmatix", "8fb6e7d87e21ad1b31d5fa486913ee38e087353c", "data/train-*.parquet", "docmatix", "mit"
    ),
}


@dataclass(frozen=True)
class Found:
    """A source on this machine: the folder that its files lie below, under their own paths."""

    source: Source
    root: Path
    revision: str | None


def source(name: str) -> Source | None:
    """The source of this name; a hub name is one too. None for a path."""
    if name in SOURCES and not Path(name).exists():
        return SOURCES[name]
    is_hub = _HUB.fullmatch(name) and not Path(name).exists() and not Path(name).parent.exists()
    return Source(name, None, ANY) if is_hub else None


def from_mirror(wanted: Source, folder: Path, revision: str | None) -> Found:
    """The files of a source in a local mirror.

    A mirror whose folder is called by a commit, as the hub's own cache has it, is held against the revision wanted.

    Raises:
        DataFault: it is not there, holds none of the files, or is of another revision.
    """
    root = next((r for r in (folder / wanted.repository, folder) if any(r.glob(wanted.files))), None)
    if root is None:
        what = f"no {wanted.files} here, nor below {wanted.repository}/"
        fix = "name the folder that the source's files were copied to, under their own paths"
        raise DataFault(what, where=str(folder), fix=fix)
    stated = root.resolve().name if _COMMIT.fullmatch(root.resolve().name) else None
    pinned = revision or wanted.revision
    if stated and pinned and stated != pinned:
        fix = f"name the mirror of that revision, or say --revision {stated}"
        raise DataFault(f"this is revision {stated}, and {pinned} is wanted", where=str(root), fix=fix)
    return Found(wanted, root, revision or stated)


def from_hub(wanted: Source, revision: str | None) -> Found:
    """The files of a source, downloaded into the hub's own cache.

    Raises:
        DataFault: the hub can't be reached, has no such set, or its library is not installed.
    """
    hub = needed("huggingface_hub", f"{wanted.repository} lies on the hub")
    pinned = revision or wanted.revision
    try:
        hub.HfApi().dataset_info(wanted.repository, revision=pinned, timeout=_PATIENCE)  # says at once what is wrong
        patterns = [wanted.files] if wanted.files != ANY else ["*.parquet", "*.json*", "*.csv", "*.tsv", "README.md"]
        place = hub.snapshot_download(wanted.repository, repo_type="dataset", revision=pinned, allow_patterns=patterns)
    except Exception as error:  # noqa: BLE001  (every way a download can fail, told in one way)
        paths = f"; the paths are {wanted.files}" if wanted.files != ANY else ""
        fix = f"copy its files to a folder and name it with --from-mirror{paths}"
        what = f"can't be downloaded: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        raise DataFault(what, where=wanted.repository, fix=fix) from None
    return Found(wanted, Path(place), Path(place).name)


def read(found: Found, options: Options) -> tuple[list[Input], Options]:
    """The files to read, and the options with all that is known of the source.

    Raises:
        DataFault: none of its files is there.
    """
    wanted = found.source
    if wanted.files == ANY:
        files = inputs([found.root])
    else:
        files = listed(found.root, sorted(found.root.glob(wanted.files)), links=True)
    known = replace(
        options,
        format=options.format or wanted.format,
        licence=options.licence or wanted.licence or licence(found.root),
        origin=wanted.repository,
        revision=found.revision,
    )
    return files, known


def licence(folder: Path) -> str | None:
    """The licence that the front matter of a README states."""
    page = folder / "README.md"
    if not page.is_file():
        return None
    head = page.read_bytes()[:65536].decode("utf-8", "replace")
    front = head.split("---")[1] if head.startswith("---") and head.count("---") > 1 else ""
    stated = re.search(r"^license:\s*([\w.+-]+)\s*$", front, re.MULTILINE)
    return stated[1] if stated else None
