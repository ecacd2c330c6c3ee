"""What this machine compiles CUDA code with, found where the usual variables and folders say."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from orchestrator import process
from orchestrator.hardware import Machine

_USUAL = Path("/usr/local")


@dataclass(frozen=True)
class Toolchain:
    """Compilers and architectures.

    Attributes:
        cuda_home: folder of a CUDA toolkit with its compiler and headers.
        cuda: its release, e.g. 13.0.
        cc, cxx: C and C++ compiler, full paths.
        headers: whether Python.h is there.
        git: whether git is.
        architectures: compute capabilities to compile for, e.g. 9.0; those of the GPUs here unless the user names some.
    """

    cuda_home: Path | None
    cuda: str | None
    cc: str | None
    cxx: str | None
    headers: bool
    git: bool
    architectures: tuple[str, ...]

    def variables(self) -> dict[str, str]:
        """What builds are told; nothing about what isn't there."""
        told = {
            "CUDA_HOME": str(self.cuda_home or ""),
            "CC": self.cc or "",
            "CXX": self.cxx or "",
            "TORCH_CUDA_ARCH_LIST": ";".join(self.architectures),
        }
        return {name: value for name, value in told.items() if value}

    @property
    def levels(self) -> tuple[float, ...]:
        """The architectures as numbers, `9.0a` and `8.6+PTX` too; a name such as `Hopper` has none."""
        found = (re.match(r"\d+\.\d+", text) for text in self.architectures)
        return tuple(float(match[0]) for match in found if match)

    @property
    def families(self) -> str:
        """The architectures as compilers count them, without the minor version: 8.6 and 9.0 are `80;90`."""
        return ";".join(dict.fromkeys(f"{int(level)}0" for level in self.levels))


def find(machine: Machine, major: str | None) -> Toolchain:
    """Look for everything; of several CUDA toolkits the first of this major version, else the first."""
    home, release = _cuda(major)
    return Toolchain(
        cuda_home=home,
        cuda=release,
        cc=_program("CC", ("gcc", "cc")),
        cxx=_program("CXX", ("g++", "c++")),
        headers=(Path(sysconfig.get_path("include")) / "Python.h").exists(),
        git=shutil.which("git") is not None,
        architectures=_architectures(machine),
    )


def _cuda(major: str | None) -> tuple[Path | None, str | None]:
    found = [(folder, release) for folder in _candidates() if (release := _release(folder))]
    fitting = [pair for pair in found if pair[1].partition(".")[0] == major]
    return next(iter([*fitting, *found]), (None, None))


def _candidates() -> list[Path]:
    """Folders of CUDA toolkits; the user's word is final. An nvcc on the PATH may be a script that lies elsewhere."""
    if named := os.environ.get("CUDA_HOME"):
        return [Path(named)]
    nvcc = shutil.which("nvcc")
    return [*([Path(nvcc).resolve().parents[1]] if nvcc else []), _USUAL / "cuda", *sorted(_USUAL.glob("cuda-*"))]


def _release(folder: Path) -> str | None:
    if not (folder / "include" / "cuda_runtime.h").exists():
        return None
    said = process.run((str(folder / "bin" / "nvcc"), "--version"), timeout=60).out
    match = re.search(r"release (\d+\.\d+)", said)
    return match[1] if match else None


def _program(variable: str, usual: tuple[str, ...]) -> str | None:
    named = os.environ.get(variable)
    return next((path for name in ([named] if named else usual) if (path := shutil.which(name))), None)


def _architectures(machine: Machine) -> tuple[str, ...]:
    named = os.environ.get("TORCH_CUDA_ARCH_LIST")
    if named:
        return tuple(named.replace(";", " ").split())
    return tuple(dict.fromkeys(str(gpu.capability) for gpu in machine.gpus))
