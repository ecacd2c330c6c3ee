"""Which build of torch a CPU environment gets, decided before anything is downloaded."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.backend import EnvLock
from orchestrator.environments import pins, sources
from orchestrator.environments.sources import Sources
from orchestrator.environments.tools import Tool
from orchestrator.errors import EnvironmentMissing

_LARGE = """pip finds no CPU build of torch here, so it takes the CUDA build: about 3 GB to download.
That works without a GPU, but is large. To avoid it: --find-links FOLDER_OR_PAGE with a CPU wheel of torch,
or uv (pip install uv), which finds one itself."""


@dataclass(frozen=True)
class TorchBuild:
    """How torch comes into an environment.

    Attributes:
        words: requirement and options to install it with; empty when the lock itself holds it.
        lock: name of the lock to install, `cpu` or `cuda`.
        warning: what the user should hear first.
    """

    words: tuple[str, ...]
    lock: str
    warning: str | None = None


def choose(lock: EnvLock, variant: str, tool: Tool, known: Sources, asked: bool) -> TorchBuild:
    """The build for an environment; `asked`: the user named a place for wheels.

    Raises:
        EnvironmentMissing: the place that the user named has no fitting wheel.
    """
    pin = _pin(lock)
    if variant != "cpu" or pin is None:
        return TorchBuild((), variant)
    if build := sources.cpu_build(pin, known, asked):
        return TorchBuild((f"torch=={build}",), "cpu")
    if asked:
        place, fix = sources.shown(known.find_links), "name a place that has one, or leave --find-links out"
        raise EnvironmentMissing(f"no CPU build of torch {pin} for this Python", where=place, fix=fix)
    if tool.name == "uv":
        return TorchBuild((f"torch=={pin}", "--torch-backend", "cpu"), "cpu")
    if not sources.plain_is_cuda():
        return TorchBuild((f"torch=={pin}",), "cpu")
    return TorchBuild((), "cuda", _LARGE)


def _pin(lock: EnvLock) -> str | None:
    file = lock.folder / "torch.txt"
    return next((p.version for p in pins.read(file) if p.name == "torch"), None) if file.exists() else None
