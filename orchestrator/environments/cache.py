"""The folder of environments: one for each lock, variant, Python and set of extras, whichever backend asks."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from orchestrator.backend import EnvLock
from orchestrator.cache import cache_root
from orchestrator.errors import StorageError
from orchestrator.spec import Part

VARIABLE = "POST_TRAIN_CACHE"
READY = "READY.json"
LOG = "install.log"
GIB = 2**30


class Ready(Part):
    """What an environment's READY.json says; it is written last, so a folder without one is not an environment.

    Attributes:
        lock: sha256 over the lock files.
        python: version, e.g. 3.11.7.
        tool: what installed it, e.g. `uv 0.13.9`.
        installed: date and time, ISO 8601, UTC.
        extras: packages beyond the lock, as they were asked for.
        packages: distribution name -> version.
    """

    key: str
    variant: str
    lock: str
    python: str
    tool: str
    installed: str
    extras: tuple[str, ...] = ()
    packages: dict[str, str]


def digest(lock: EnvLock, variant: str) -> str:
    """sha256 over the lock files of a variant, in hex."""
    torch = lock.folder / "torch.txt"
    files = [lock.folder / f"{variant}.lock", *([torch] if variant == "cpu" and torch.exists() else [])]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def key(lock: EnvLock, variant: str, extras: Sequence[str] = ()) -> str:
    """Twelve hex digits for lock, Python and platform, six more with extras. The backend's name is no part."""
    python = f"{sys.implementation.name}-{sys.version_info[0]}.{sys.version_info[1]}"
    base = _short(12, digest(lock, variant), variant, python, sys.platform, platform.machine())
    return f"{base}-{_short(6, *sorted(extras))}" if extras else base


def folder(variant: str, env_key: str) -> Path:
    """Where the environment of a key lies."""
    return cache_root() / "envs" / f"{variant}-{env_key}"


def python_of(env: Path) -> Path:
    """The interpreter of an environment folder."""
    return env / "bin" / "python"


def read(env: Path) -> Ready | None:
    """What READY.json says; None when it is missing or damaged, or when the interpreter is gone."""
    try:
        ready = Ready.model_validate_json((env / READY).read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError):
        return None
    return ready if python_of(env).exists() else None


def newest(lock: EnvLock, variant: str, extras: Sequence[str] = ()) -> Path | None:
    """The environment installed last for this lock that has at least these extras."""
    found = [
        (ready.installed, path)
        for path in _same_lock(lock, variant)
        if (ready := read(path)) and set(extras) <= set(ready.extras)
    ]
    return max(found)[1] if found else None


def room(need: int) -> None:
    """Refuse to begin what can't fit; `need` in bytes.

    Raises:
        StorageError: too little free space below the cache folder.
    """
    place = next(path for path in (cache_root(), *cache_root().parents) if path.exists())
    free = shutil.disk_usage(place).free
    if free < need:
        raise StorageError(
            f"{free / GIB:.1f} GiB free, and the environment needs about {need / GIB:.0f} GiB",
            where=str(place),
            why="a half-installed environment is of no use",
            fix=f"free some space, or name a folder on another disk: export {VARIABLE}=FOLDER",
        )


def size() -> int:
    """Bytes in the cache folder; a file with several links counts once."""
    seen: dict[tuple[int, int], int] = {}
    for parent, _, names in os.walk(cache_root()):
        for name in names:
            found = (Path(parent) / name).lstat()
            seen[(found.st_dev, found.st_ino)] = found.st_size
    return sum(seen.values())


def _same_lock(lock: EnvLock, variant: str) -> list[Path]:
    base = folder(variant, key(lock, variant))
    return [path for path in base.parent.glob(f"{base.name}*") if path.is_dir()]


def _short(digits: int, *words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:digits]
