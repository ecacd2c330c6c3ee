"""Atomic writes: a reader, or a machine that lost power, sees the old file or the new one, never a part."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orchestrator.errors import StorageError


def write_text(path: Path, text: str) -> None:
    """Replace a file's content: write beside it, fsync, rename, fsync the folder.

    Raises:
        StorageError: disk full, read-only or unwritable folder.
    """
    with storage(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            # a file name that is no UTF-8 becomes a JSON escape
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def write_json(path: Path, value: Any) -> None:
    """Replace a file with indented JSON."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn the file system's refusals into errors that say what to do."""
    try:
        yield
    except OSError as error:
        fixes = {
            errno.ENOSPC: "free some space, or name a folder on another disk with --runs",
            errno.EROFS: "name a writable folder with --runs",
            errno.EACCES: "name a writable folder with --runs",
        }
        raise StorageError(
            f"can't write: {error.strerror}", where=str(error.filename or path), fix=fixes.get(error.errno or 0)
        ) from error


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
