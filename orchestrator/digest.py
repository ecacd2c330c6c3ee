"""Content digests of files and folders, remembered by size, times and inode so that big weights are read once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from orchestrator import atomic
from orchestrator.backend import ArtifactFile

_BIG = 64 * 2**20
_LONG = 2**30


def file_digest(path: Path, memory: Path | None = None) -> str:
    """sha256 of a file, hex. With `memory`, a folder, the digest of a big unchanged file is taken from there."""
    stat = path.stat()
    if memory is None or stat.st_size < _BIG:
        return _read(path)
    # st_ctime_ns: whoever writes into a file can set its time of change back, but not that
    key = hashlib.sha256(
        f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ctime_ns}|{stat.st_ino}".encode()
    )
    note = memory / f"{key.hexdigest()}.json"
    known = _remembered(note)
    if known:
        return known
    digest = _read(path)
    atomic.write_json(note, {"path": str(path), "sha256": digest})
    return digest


def folder_files(folder: Path, memory: Path | None = None) -> tuple[ArtifactFile, ...]:
    """Every file below a folder with size and digest, sorted by path. Links are followed to files."""
    found = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    return tuple(
        ArtifactFile(path=str(p.relative_to(folder)), size=p.stat().st_size, sha256=file_digest(p, memory))
        for p in found
    )


def combined(files: tuple[ArtifactFile, ...]) -> str:
    """One digest over many files: names and contents, in order."""
    return hashlib.sha256("\n".join(f"{f.sha256}  {f.path}" for f in files).encode()).hexdigest()


def model_digest(folder: Path, memory: Path | None = None) -> str:
    """Digest of what makes a model folder behave as it does: weights, config, tokenizer, template, own code."""
    kept = {".safetensors", ".json", ".jinja", ".model", ".txt", ".tiktoken", ".py"}
    return combined(tuple(f for f in folder_files(folder, memory) if Path(f.path).suffix in kept))


def is_slow(folder: Path) -> bool:
    """Whether the digest of a model's weights takes longer than a moment, and its reader should be told."""
    return sum(p.stat().st_size for p in folder.glob("*.safetensors")) > _LONG


def _remembered(note: Path) -> str | None:
    """What a note says; a damaged one says nothing."""
    try:
        return str(json.loads(note.read_text())["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
