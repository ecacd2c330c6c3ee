"""Backend environments: where the interpreter of an engine is, and how it gets there."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Literal

from orchestrator import hardware
from orchestrator.backend import EnvLock
from orchestrator.errors import EnvironmentMissing
from orchestrator.hardware import Machine
from orchestrator.spec import Part

EnvVariant = Literal["cpu", "cuda", "given"]

OLDEST_PYTHON = (3, 11)


class EnvRef(Part):
    """An environment that exists, or can be installed.

    Attributes:
        name: backend it was looked up for.
        variant: lock it is made from, or `given`: the user's own interpreter.
        key: names its content, never its place.
        folder: environment folder.
        python: interpreter in it.
        ready: whether it can be used as it is.
        packages: distribution name -> version; None while not installed.
        problems: why the user's own interpreter can't be used; empty for one from a lock, which is just installed.
        differences: what else is worth knowing about the user's own interpreter: other versions than the lock's, and
            known conflicts that prevent nothing.
    """

    name: str
    variant: EnvVariant
    key: str
    folder: Path
    python: Path
    ready: bool
    packages: dict[str, str] | None = None
    problems: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


def locate(backend_name: str, lock: EnvLock | None, machine: Machine, choice: str | None) -> EnvRef:
    """The environment that a backend will run in. Installs nothing.

    Args:
        choice: None for the one from the lock; `current`, an environment folder or a Python for one of the user's own.
    """
    if lock is None:
        return _core(backend_name)
    return _given(backend_name, lock, choice) if choice else locked(backend_name, lock, machine.variant)


def locked(name: str, lock: EnvLock, variant: str) -> EnvRef:
    """The environment of a lock's variant, installed or not; of several with extras the one installed last."""
    from orchestrator.environments import cache

    return _ref(name, variant, cache.newest(lock, variant) or cache.folder(variant, cache.key(lock, variant)))


def install(
    lock: EnvLock,
    name: str,
    variant: str,
    *,
    say: Callable[[str], None],
    extras: Sequence[str] = (),
    pieces: Sequence[str] = (),
    find_links: str | None = None,
    tool: Literal["uv", "pip"] | None = None,
    force: bool = False,
) -> EnvRef:
    """Make the environment of a lock unless it is there. Of several processes one installs and the others wait.

    Args:
        name: backend that asks; for messages.
        variant: `cpu` or `cuda`.
        say: gets a line whenever there is something to tell.
        extras: further requirements, installed without moving a locked version.
        pieces: names from `optional.toml` in the lock's folder, built on this machine.
        find_links: folder or page with wheels, for torch's CPU build.
        tool: installer to use; None for uv when it is there, else pip.
        force: build it anew.

    Raises:
        EnvironmentMissing: it can't be made, or a piece can't be built here.
        UsageError: there is no piece of that name.
        StorageError: no room, or an unwritable cache folder.
    """
    from orchestrator.environments import build, cache, claim, needs, optional, sources, tools

    optional.refuse(name, lock, extras)
    built = optional.chosen(name, lock, pieces)
    wanted = tuple(sorted({*extras, *(text for piece in built.values() for text in piece.install)}))
    env = cache.folder(variant, cache.key(lock, variant, wanted))
    if not force and (there := cache.newest(lock, variant, wanted)):
        return _ref(name, variant, there)
    toolchain = needs.demand(name, built, needs.place(lock, variant, hardware.detect()))
    with claim.claimed(env, say) as handle:
        if force or cache.read(env) is None:
            known, asked = sources.configured(find_links), sources.asked(find_links)
            more = (tuple(sorted(set(extras))), built, toolchain)
            build.build(build.Order(name, lock, variant, *more, tools.find(tool), known, asked), env, say, handle)
    return _ref(name, variant, env)


def _ref(name: str, variant: str, env: Path) -> EnvRef:
    from orchestrator.environments import cache

    ready = cache.read(env)
    return EnvRef(
        name=name,
        variant="cuda" if variant == "cuda" else "cpu",
        key=env.name.removeprefix(f"{variant}-"),
        folder=env,
        python=cache.python_of(env),
        ready=ready is not None,
        packages=ready.packages if ready else None,
    )


def _core(name: str) -> EnvRef:
    """The core's own interpreter, for a backend that needs nothing else."""
    packages = {(dist.metadata["Name"] or "").lower(): dist.version for dist in metadata.distributions()}
    python = Path(sys.executable)
    return _own(name, python, ".".join(map(str, sys.version_info[:3])), packages)


def _given(name: str, lock: EnvLock, choice: str) -> EnvRef:
    from orchestrator.environments import compare, pins, probe

    python = _interpreter(choice)
    try:
        found = probe.look(python)
    except EnvironmentMissing as error:
        said = ": ".join((error.what, *error.details[-1:]))
        return _own(name, python, "", None, problems=(f"{choice}: {said}",))
    told = compare.given(lock, python, found, pins.required(lock))
    old = [f"Python {found.python} is too old; it takes 3.11 or newer"] if _too_old(found.python) else []
    problems, differences = (*old, *told.problems), tuple(told.differences)
    return _own(name, python, found.python, found.packages, problems=problems, differences=differences)


def _own(
    name: str,
    python: Path,
    version: str,
    packages: dict[str, str] | None,
    *,
    problems: tuple[str, ...] = (),
    differences: tuple[str, ...] = (),
) -> EnvRef:
    content = [version, *(f"{key}=={value}" for key, value in sorted((packages or {}).items()))]
    return EnvRef(
        name=name,
        variant="given",
        key=hashlib.sha256("\0".join(content).encode()).hexdigest()[:12],
        folder=python.parent.parent,
        python=python,
        ready=not problems,
        packages=packages,
        problems=problems,
        differences=differences,
    )


def _interpreter(choice: str) -> Path:
    if choice == "current":
        return Path(sys.executable)
    # absolute, not resolved: the link is what makes a Python the one of its environment
    path = Path(choice).expanduser().absolute()
    return path / "bin" / "python" if path.is_dir() else path


def _too_old(version: str) -> bool:
    return tuple(int(part) for part in version.split(".")[:2]) < OLDEST_PYTHON
