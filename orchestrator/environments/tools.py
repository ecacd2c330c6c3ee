"""The two installers: uv where there is one, else venv and pip of the core's own Python."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orchestrator import process
from orchestrator.environments.sources import Sources
from orchestrator.errors import EnvironmentMissing

ToolName = Literal["uv", "pip"]


@dataclass(frozen=True)
class Tool:
    """An installer.

    Attributes:
        program: how it is called.
        version: as it says itself.
    """

    name: ToolName
    program: tuple[str, ...]
    version: str

    def make(self, folder: Path) -> tuple[str, ...]:
        """argv that makes an empty environment in an existing folder, with the core's Python."""
        if self.name == "uv":
            return (*self.program, "venv", "--allow-existing", "--no-project", "--python", sys.executable, str(folder))
        return (sys.executable, "-m", "venv", str(folder))

    def add(self, python: Path, *words: str) -> tuple[str, ...]:
        """argv that installs into the environment; only built wheels, so that no package's code runs meanwhile.

        `--no-binary NAME` among the words makes the one exception.
        """
        if self.name == "uv":
            return (*self.program, "pip", "install", "--python", str(python), "--only-binary", ":all:", *words)
        return (
            str(python),
            "-m",
            "pip",
            "install",
            "--only-binary",
            ":all:",
            "--no-input",
            "--progress-bar",
            "off",
            *words,
        )

    def environment(self, sources: Sources) -> dict[str, str]:
        """Environment of both: pip reads its own configuration, uv has to be told."""
        return process.clean_environment(sources.for_uv() if self.name == "uv" else sources.for_pip())


def find(name: ToolName | None = None) -> Tool:
    """The installer to use; without a name uv when it is there, else pip.

    Raises:
        EnvironmentMissing: the named one is not there.
    """
    uv = None if name == "pip" else _uv()
    if uv is not None:
        return uv
    if name == "uv":
        raise EnvironmentMissing("uv is not here", why="it was asked for by name", fix="pip install uv")
    if importlib.util.find_spec("ensurepip") is None:
        why = "this Python can make no environment with pip in it (Debian ships that part as python3-venv)"
        raise EnvironmentMissing(
            "no way to make a Python environment", where=sys.executable, why=why, fix="pip install uv"
        )
    return Tool("pip", (sys.executable, "-m", "pip"), "pip of Python " + ".".join(map(str, sys.version_info[:3])))


def _uv() -> Tool | None:
    on_path = shutil.which("uv")
    for program in (
        (on_path,) if on_path else None,
        (sys.executable, "-m", "uv") if importlib.util.find_spec("uv") else None,
    ):
        outcome = process.run((*program, "--version"), timeout=60) if program else None
        if program and outcome and outcome.code == 0:
            return Tool("uv", program, " ".join(outcome.out.split()[:2]))
    return None
