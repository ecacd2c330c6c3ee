"""The folder being made, hidden until it is whole."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_YOUNG = 60.0
"""Seconds in which a folder without a lock may be one that is just being begun."""


@contextmanager
def making(folder: Path) -> Iterator[Path]:
    """A hidden folder beside `folder` to fill. It becomes `folder` at the end, and goes when anything goes wrong.

    Raises:
        FileExistsError: `folder` is there already, or another process made it meanwhile.
        OSError: no room, or no permission; with the folder's name.
    """
    if folder.exists():
        raise FileExistsError(str(folder))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), error.filename) from None
    _remove_left(folder)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    held = _lock(part)
    try:
        yield part
        part.chmod(0o755)
        part.rename(folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST) and folder.exists():
            raise FileExistsError(str(folder)) from None
        raise OSError(error.errno, error.strerror, error.filename or str(folder)) from None
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    finally:
        os.close(held)


def _remove_left(folder: Path) -> None:
    """Remove what processes left that were killed while they made the same folder: nobody holds its lock."""
    for left in folder.parent.glob(f".{folder.name}.????????"):
        if left.is_symlink() or not left.is_dir() or time.time() - left.stat().st_mtime < _YOUNG:
            continue
        try:
            os.close(_lock(left))
        except OSError:
            continue
        shutil.rmtree(left, ignore_errors=True)


def _lock(folder: Path) -> int:
    """A descriptor that holds the folder's lock until it is closed, or its processes are gone.

    Raises:
        BlockingIOError: another process holds it.
    """
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise
    return held
