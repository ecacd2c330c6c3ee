"""Only regular files are opened: a pipe would be waited for without end, and a device may never end."""

from __future__ import annotations

import stat
from pathlib import Path

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def other(path: Path) -> str | None:
    """What stands there instead of a file, in words; None for a file, or nothing at all."""
    try:
        return _KINDS.get(stat.S_IFMT(path.stat().st_mode))
    except (OSError, ValueError):
        return None


def strange(folder: Path) -> tuple[Path, str] | None:
    """The first entry of a folder that is neither a file nor a folder, and what it is; None without any."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    found = ((path, other(path)) for path in entries)
    return next(((path, kind) for path, kind in found if kind and kind != "a folder"), None)
