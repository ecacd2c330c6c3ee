"""What stands between a command and the machine: the port that bubblewrap and its weaker stand-in implement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from orchestrator.sandbox.bounds import Bounds
from orchestrator.sandbox.room import DROPPED, Room

SEARCHED = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Launch:
    """How to start a command, which comes last: arguments, descriptors that they name, folder, environment."""

    argv: list[str]
    fds: tuple[int, ...] = ()
    cwd: Path = Path("/")
    env: dict[str, str] = field(default_factory=dict)


class Enclosure(Protocol):
    """One way to enclose commands.

    Attributes:
        name: how a user chooses it.
        place: the folder's path as commands see it; None when it is the room's own.
    """

    name: str
    place: str | None

    def launch(self, room: Room, bounds: Bounds) -> Launch: ...


def dropping_root() -> list[str]:
    """Leave root before anything else: what root may write in /proc lets a command out of any namespace."""
    if os.geteuid() != 0:
        return []
    return ["/usr/bin/setpriv", f"--reuid={DROPPED}", f"--regid={DROPPED}", "--clear-groups"]


@contextmanager
def given(launch: Launch) -> Iterator[Launch]:
    """Close a launch's descriptors once the process has them."""
    try:
        yield launch
    finally:
        for fd in launch.fds:
            os.close(fd)


def handed(content: bytes, name: str) -> int:
    """A descriptor to read content from, with no file behind it."""
    fd = os.memfd_create(name)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
