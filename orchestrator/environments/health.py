"""The checks of `post-train doctor`: this machine, this installation, and every engine's environment."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from orchestrator import __version__, envs, hardware, registry
from orchestrator.cache import cache_root
from orchestrator.environments import cache, sources, tools
from orchestrator.errors import EnvironmentMissing, PostTrainError, StorageError
from orchestrator.hardware import Machine
from orchestrator.spec import Part


class Check(Part):
    """One line of the examination.

    Attributes:
        exit_code: 0 when fine, else the exit code that stands for the fault.
        fix: the command that mends a fault, or does what is still to do.
    """

    name: str
    text: str
    exit_code: int = 0
    fix: str | None = None

    @property
    def mark(self) -> str:
        """`ok`, `todo` or `fault`."""
        return "fault" if self.exit_code else "todo" if self.fix else "ok"


def checks(runs: Path) -> list[Check]:
    """Everything, in the order in which it is shown."""
    machine = hardware.detect()
    return [
        Check(
            name="post-train",
            text=f"{__version__}, Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}",
        ),
        _machine(machine),
        _safe("installer", _installer),
        _folder("cache", cache_root(), f"export {cache.VARIABLE}=FOLDER"),
        _folder("runs", runs, "--runs FOLDER, or export POST_TRAIN_RUNS=FOLDER"),
        *(_safe(name, partial(_backend, name, machine)) for name in registry.names()),
    ]


def _machine(machine: Machine) -> Check:
    gpus = ", ".join(f"{gpu.name} ({gpu.memory / cache.GIB:.0f} GiB)" for gpu in machine.gpus) or "no GPU"
    return Check(name="machine", text=f"{machine.cores} cores, {machine.memory / cache.GIB:.0f} GiB memory, {gpus}")


def _installer() -> Check:
    tool = tools.find()
    known = sources.configured()
    links = f", wheels from {sources.shown(known.find_links)}" if known.find_links else ""
    return Check(name="installer", text=tool.version + links)


def _folder(name: str, folder: Path, fix: str) -> Check:
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if not _writable(place):
        return Check(name=name, text=f"{folder} can't be written", exit_code=StorageError.exit_code, fix=fix)
    used = f"{cache.size() / cache.GIB:.1f} GiB used, " if name == "cache" else ""
    return Check(name=name, text=f"{folder} ({used}{shutil.disk_usage(place).free / cache.GIB:.1f} GiB free)")


def _writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _backend(name: str, machine: Machine) -> Check:
    lock = registry.load(name).lock()
    if lock is None:
        return Check(name=name, text="runs in post-train's own Python")
    env = envs.locate(name, lock, machine, None)
    if env.ready:
        return Check(
            name=name, text=f"{env.variant} environment ready, {len(env.packages or {})} packages, {env.folder}"
        )
    damaged = "; an unfinished or damaged one is there and will be replaced" if env.folder.exists() else ""
    text = f"{env.variant} environment not installed{damaged}"
    return Check(name=name, text=text, fix=f"post-train backends install {name}")


def _safe(name: str, look: Callable[[], Check]) -> Check:
    """A check that fails is a finding, and no reason to leave out the others."""
    try:
        return look()
    except PostTrainError as error:
        return Check(name=name, text=error.what, exit_code=error.exit_code, fix=error.fix)
    except ImportError as error:
        return Check(name=name, text=f"can't be imported: {error}", exit_code=EnvironmentMissing.exit_code)
