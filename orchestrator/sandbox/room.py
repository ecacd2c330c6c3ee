"""A private folder for one episode: written before commands run, read after them without trusting what they left."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

DROPPED = 60999
"""User and group that commands get when we are root: a number that no distribution hands out."""


class NotPlain(ValueError):
    """What lies under a name is no regular file of a sensible size."""


class Room:
    """One folder, made on entry and removed by `close`.

    Attributes:
        path: the folder.
        fd: an open descriptor of it; every access goes through it, and none follows a link.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="post-train-task-"))
        self.fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _hand_over(self.fd)

    def write(self, name: str, content: bytes) -> None:
        """Make a file. Before the first command only: afterwards the folder is not ours alone."""
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=self.fd)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            _hand_over(fd)

    def read(self, name: str, limit: int) -> bytes:
        """A file that a command left in the folder itself; of a longer path any part could be a link.

        Raises:
            ValueError: the name is a path.
            FileNotFoundError: there is none.
            NotPlain: a link, folder, pipe or device, or more than `limit` bytes.
        """
        if "/" in name:
            raise ValueError(f"{name} is a path, not a name")
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise NotPlain(f"{name} can't be opened: {error.strerror}") from error
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
                raise NotPlain(f"{name} is no regular file of at most {limit} bytes")
            return os.read(fd, limit)
        finally:
            os.close(fd)

    def close(self) -> None:
        """Forget the descriptor; removing what commands left is `sweep`'s, which they may have made hard."""
        os.close(self.fd)


def _hand_over(fd: int) -> None:
    if os.geteuid() == 0:
        os.fchown(fd, DROPPED, DROPPED)
