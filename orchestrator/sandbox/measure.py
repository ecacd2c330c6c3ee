"""What a tree of processes and a folder hold right now, read from /proc without any package."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

_PAGE, _BLOCK = os.sysconf("SC_PAGE_SIZE"), 512


def tree(root: int) -> list[int]:
    """A process and all its descendants, as far as they still live."""
    found = [root]
    for pid in found:
        found += _children(pid)
    return found


def memory(pids: list[int]) -> int:
    """Resident bytes; what processes share is counted for each, which errs on the safe side."""
    return sum(int(text.split()[1]) * _PAGE for pid in pids if (text := _read(f"/proc/{pid}/statm")))


def folder(fd: int, entries: int) -> tuple[int, int]:
    """Bytes and number of entries below an open folder. Counting ends above `entries`: a flood is a flood.

    Raises:
        PermissionError: a folder that can't be looked into, so nobody knows what it holds.
    """
    size, count = 0, 0
    for _, folders, files, here in os.fwalk(".", dir_fd=fd, onerror=_unless_gone):
        count += len(folders) + len(files)
        if count > entries:
            break
        size += sum(_blocks(name, here) for name in files)
    return size, count


def unlinked(pids: list[int]) -> int:
    """Bytes of files that have no name any more but are still open; each file once."""
    return sum(dict(_nameless(pids)).values())


def _nameless(pids: list[int]) -> Iterator[tuple[tuple[int, int], int]]:
    for pid in pids:
        for fd in _listed(f"/proc/{pid}/fd"):
            try:
                found = os.stat(f"/proc/{pid}/fd/{fd}")  # noqa: PTH116  (the target of a link that names no path)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
                yield (found.st_dev, found.st_ino), found.st_blocks * _BLOCK


def _children(pid: int) -> Iterator[int]:
    for thread in _listed(f"/proc/{pid}/task"):
        yield from map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def _blocks(name: str, folder_fd: int) -> int:
    try:
        return os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_blocks * _BLOCK
    except FileNotFoundError:
        return 0


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _listed(path: str) -> list[str]:
    """Names in a folder of /proc; none of a process that has gone, or that isn't ours to look at."""
    try:
        return os.listdir(path)  # noqa: PTH208
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
