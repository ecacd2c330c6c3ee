"""What building a piece needs of this machine, said all at once before anything is installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.backend import EnvLock
from orchestrator.environments import optional, pins, toolchain
from orchestrator.environments.optional import Need, Piece
from orchestrator.environments.toolchain import Toolchain
from orchestrator.errors import EnvironmentMissing
from orchestrator.hardware import Machine

_TOOLKIT = ("cuda-toolkit", "nvidia-cuda-runtime")


@dataclass(frozen=True)
class Place:
    """Where something would be built: the variant of the environment, torch's CUDA major version, the tools here."""

    variant: str
    major: str | None
    tools: Toolchain


def place(lock: EnvLock, variant: str, machine: Machine) -> Place:
    """Look at this machine, with the eyes of a lock."""
    found = {pin.name: pin.version for pin in pins.read(lock.folder / "cuda.lock")}
    major = next((found[name].partition(".")[0] for name in _TOOLKIT if name in found), None)
    return Place(variant, major, toolchain.find(machine, major))


def demand(backend: str, pieces: Mapping[str, Piece], here: Place) -> Toolchain:
    """Refuse what can't be built here; gives the tools to build with.

    Raises:
        EnvironmentMissing: with every need that is not met, and what meets it.
    """
    told = missing(pieces, here)
    if told:
        raise EnvironmentMissing(
            f"can't build {' and '.join(pieces)} here",
            why="nothing was installed; compiling would fail, or make something that can't run",
            fix=f"see to these, then: post-train backends install {backend} --variant cuda{optional.flags([*pieces])}",
            details=told,
        )
    return here.tools


def missing(pieces: Mapping[str, Piece], here: Place) -> list[str]:
    """One line for each need that is not met, with who has it and the way to meet it."""
    lines = []
    for need, look in _LOOKS.items():
        askers = [name for name, piece in pieces.items() if need in piece.needs]
        if askers and (text := look(here)):
            lines.append(f"{', '.join(askers)}: {text}")
    return [*lines, *(line for name, piece in pieces.items() for line in _too_old(name, piece, here.tools))]


def variables(piece: Piece, tools: Toolchain, programs: Path) -> dict[str, str]:
    """The variables of a build, which looks for ninja in the folder `programs`; what the user set stays as it is."""
    path = os.pathsep.join((str(programs), os.environ.get("PATH", os.defpath)))
    own = {name: text.format(families=tools.families) for name, text in piece.variables.items()}
    return tools.variables() | {"PATH": path} | {n: os.environ.get(n, value) for n, value in own.items() if value}


def _variant(here: Place) -> str | None:
    return (
        None if here.variant == "cuda" else f"runs on CUDA only, and this is the {here.variant} variant; --variant cuda"
    )


def _nvcc(here: Place) -> str | None:
    tools, wanted = here.tools, here.major or "?"
    named = os.environ.get("CUDA_HOME")
    fix = f"install a CUDA {wanted} toolkit, then: export CUDA_HOME=FOLDER"
    if tools.cuda is None:
        where = f"CUDA_HOME is {named}, which holds no bin/nvcc with its headers" if named else "no nvcc is here"
        return f"{where}; {fix}"
    if tools.cuda.partition(".")[0] != here.major:
        return f"torch is built for CUDA {wanted}, and {tools.cuda_home} is CUDA {tools.cuda}; {fix}"
    return None


def _compiler(here: Place) -> str | None:
    gone = [name for name, path in (("CC", here.tools.cc), ("CXX", here.tools.cxx)) if path is None]
    said = " and ".join(f"{name} is {os.environ[name]}, which is not here" for name in gone if name in os.environ)
    return f"{said or 'no C and C++ compiler is here'}; apt-get install g++, or export CC=... CXX=..." if gone else None


def _headers(here: Place) -> str | None:
    return None if here.tools.headers else "no Python.h is here; apt-get install python3-dev"


def _git(here: Place) -> str | None:
    return None if here.tools.git else "no git is here to fetch its source with; apt-get install git"


def _gpu(here: Place) -> str | None:
    fix = "export TORCH_CUDA_ARCH_LIST=9.0 (compute capability of the GPUs it will run on; an H100 has 9.0)"
    return None if here.tools.architectures else f"no GPU is here that tells its architecture; {fix}"


def _too_old(name: str, piece: Piece, tools: Toolchain) -> list[str]:
    told = f"{name}: needs compute capability {piece.capability} or later, and {{}} is asked for; leave it out"
    return [told.format(level) for level in tools.levels if level < piece.capability]


_LOOKS: dict[Need, Callable[[Place], str | None]] = {
    "cuda": _variant,
    "nvcc": _nvcc,
    "compiler": _compiler,
    "headers": _headers,
    "git": _git,
    "gpu": _gpu,
}
