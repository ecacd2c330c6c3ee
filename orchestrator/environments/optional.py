"""What an engine can use beyond its lock: pieces that are built here, and packages that are refused, and why."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from orchestrator.backend import EnvLock
from orchestrator.errors import EnvironmentMissing, UsageError
from orchestrator.nearest import nearest
from orchestrator.spec import Part

Need = Literal["cuda", "nvcc", "compiler", "headers", "git", "gpu"]


class Piece(Part):
    """A package that an engine can use and runs without.

    Attributes:
        purpose: what it is for, in words.
        install: requirements to build here; empty for what is never built, only looked for.
        tools: requirements that the build wants in the environment first.
        needs: what the machine must have for it.
        capability: lowest compute capability it runs on.
        variables: for the build; `{families}` stands for the GPUs' architectures without their minor version, `80;90`.
    """

    purpose: str
    install: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    capability: float = 0.0
    variables: dict[str, str] = {}


class Choices(Part):
    """The content of `optional.toml`: distribution name -> piece, and name -> why it isn't installed."""

    piece: dict[str, Piece] = {}
    refuse: dict[str, str] = {}


def read(lock: EnvLock) -> Choices:
    """The optional packages of a lock; none where its folder has no `optional.toml`."""
    path = lock.folder / "optional.toml"
    return Choices.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))) if path.exists() else Choices()


def chosen(backend: str, lock: EnvLock, names: Sequence[str]) -> dict[str, Piece]:
    """The pieces of these names, in the order of the file.

    Raises:
        UsageError: there is nothing of that name to build.
    """
    known = {name: piece for name, piece in read(lock).piece.items() if piece.install}
    for name in names:
        if name not in known:
            what = f"{backend} has nothing called {name!r} to build{nearest(name, known)}"
            raise UsageError(what, where="--build", fix=f"post-train backends doctor {backend}")
    return {name: piece for name, piece in known.items() if name in names}


def refuse(backend: str, lock: EnvLock, extras: Sequence[str]) -> None:
    """Stop at extras that can't or shouldn't be there, all at once.

    Raises:
        UsageError: one is no requirement, path or address.
        EnvironmentMissing: one is refused, or is a piece that has to be built.
    """
    if wrong := [_unreadable(extra) for extra in extras if _unreadable(extra)]:
        fix = "name packages as pip does: --with 'math-verify>=0.5'"
        raise UsageError("these are no packages", where="--with", details=wrong, fix=fix)
    known = read(lock)
    told = [line for extra in extras for line in _told(known, extra)]
    if told:
        fix = f"leave it out: post-train backends install {backend}"
        builds = [n for n in _names(extras) if n in known.piece and known.piece[n].install]
        fix = f"post-train backends install {backend}{flags(builds)}" if builds else fix
        raise EnvironmentMissing("not with this environment", where="--with", details=told, fix=fix)


def flags(names: Sequence[str]) -> str:
    """The options that ask for these pieces."""
    return "".join(f" --build {name}" for name in names)


def _told(known: Choices, extra: str) -> list[str]:
    names = _names([extra])
    refused = [f"{extra}: {known.refuse[name]}" for name in names if name in known.refuse]
    built = [f"{extra}: it has to be built here, for this torch" for n in names[:1] if _buildable(known, n)]
    return [*refused[:1], *built]


def _buildable(known: Choices, name: str) -> bool:
    return name in known.piece and bool(known.piece[name].install)


def _unreadable(extra: str) -> str:
    """Why an extra is no requirement; empty where it is one, or a path or an address, which the installer judges."""
    try:
        Requirement(extra)
    except InvalidRequirement as error:
        place = "://" in extra or (bool(extra.strip()) and Path(extra).expanduser().exists())
        return "" if place else f"{extra!r}: {str(error).splitlines()[0]}"
    return ""


def _names(extras: Sequence[str]) -> list[str]:
    """Names in requirements, with those of the extras in brackets: accelerate[deepspeed] brings deepspeed."""
    found: list[str] = []
    for text in extras:
        try:
            asked = Requirement(text)
        except InvalidRequirement:
            continue  # a path or an address, which the installer judges
        found += [canonicalize_name(asked.name), *sorted(map(canonicalize_name, asked.extras))]
    return found
