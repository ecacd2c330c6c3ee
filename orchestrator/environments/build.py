"""Builds one environment in place, step by step; READY.json comes last."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from orchestrator import atomic
from orchestrator.backend import EnvLock
from orchestrator.environments import cache, compare, needs, pins, probe, step, torchbuild, wheels
from orchestrator.environments.cache import Ready
from orchestrator.environments.compare import Comparison
from orchestrator.environments.failure import failed
from orchestrator.environments.optional import Piece
from orchestrator.environments.sources import Sources
from orchestrator.environments.step import Step
from orchestrator.environments.toolchain import Toolchain
from orchestrator.environments.tools import Tool
from orchestrator.environments.torchbuild import TorchBuild
from orchestrator.errors import EnvironmentMissing

_NEED = {"cpu": 4 * cache.GIB, "cuda": 10 * cache.GIB}
_OWN = ("pip", "setuptools")


@dataclass(frozen=True)
class Order:
    """What to build: a lock's variant plus extras, with which tool, from which sources.

    Attributes:
        name: backend that asked; for messages only.
        extras: further requirements.
        pieces: what to build here, by distribution name.
        toolchain: to build it with.
        asked: the user named the place for wheels.
    """

    name: str
    lock: EnvLock
    variant: str
    extras: tuple[str, ...]
    pieces: Mapping[str, Piece]
    toolchain: Toolchain
    tool: Tool
    sources: Sources
    asked: bool

    @property
    def more(self) -> tuple[str, ...]:
        """Every requirement beyond the lock, extras and pieces alike."""
        return tuple(sorted({*self.extras, *(text for piece in self.pieces.values() for text in piece.install)}))


def build(order: Order, env: Path, say: Callable[[str], None], claim: int) -> None:
    """Make the environment; whatever lay in its folder is removed first.

    Args:
        claim: descriptor of the lock on the folder, inherited by every step.

    Raises:
        EnvironmentMissing: a step failed, or what came out is not what the lock says.
        StorageError: too little space.
    """
    torch = torchbuild.choose(order.lock, order.variant, order.tool, order.sources, order.asked)
    cache.room(_NEED[torch.lock])
    if torch.warning:
        say(torch.warning)
    if env.exists():
        shutil.rmtree(env)
    env.mkdir(parents=True)
    try:
        _fill(order, env, torch, say, claim)
    except BaseException:
        say(f"removing what was installed; the log stays: {env / cache.LOG}")
        _clear(env)
        raise


def _fill(order: Order, env: Path, torch: TorchBuild, say: Callable[[str], None], claim: int) -> None:
    _run(order, env, _base_steps(order, env, torch), say, claim)
    _run(order, env, _fitting_steps(order, env, torch), say, claim)
    if order.extras:
        _run(order, env, [_extras_step(order, env)], say, claim)
    for name, piece in order.pieces.items():
        _run(
            order, env, _piece_steps(order, env, name, needs.variables(piece, order.toolchain, env / "bin")), say, claim
        )
    _run(order, env, [_import_step(order, env)], say, claim)
    atomic.write_json(env / cache.READY, _verified(order, env, torch).model_dump())


def _clear(env: Path) -> None:
    """Nobody can use the rest, and it is gigabytes; the log tells what went wrong."""
    for path in env.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != cache.LOG:
            path.unlink()


def _run(order: Order, env: Path, steps: list[Step], say: Callable[[str], None], claim: int) -> None:
    log, variables = env / cache.LOG, order.tool.environment(order.sources)
    for one in steps:
        if not step.run(one, log, variables, claim, say):
            raise failed(order.name, one, log)


def _base_steps(order: Order, env: Path, torch: TorchBuild) -> list[Step]:
    tool, python = order.tool, cache.python_of(env)
    lock = order.lock.folder / f"{torch.lock}.lock"
    steps = [Step(f"making {env} with {tool.version}", tool.make(env))]
    if torch.words:
        steps.append(Step(f"installing {torch.words[0]}", tool.add(python, "--no-deps", *torch.words)))
    return [*steps, *_locked_steps(order, env, lock)]


def _locked_steps(order: Order, env: Path, lock: Path) -> list[Step]:
    """Wheels first: what has to be built is built with the locked setuptools, and not with whatever is newest."""
    exact = ("--no-deps", "--require-hashes", "-r")
    label, python, built = (
        f"installing the locked packages ({lock.name})",
        cache.python_of(env),
        pins.source_only(order.lock),
    )
    if not built:
        return [Step(label, order.tool.add(python, *exact, str(lock)))]
    ready, sources = env / "wheels.txt", env / "sources.txt"
    for file, text in zip((ready, sources), pins.split(lock, built), strict=True):
        atomic.write_text(file, text)
    words = [word for name in built for word in ("--no-binary", name)]
    argv = order.tool.add(python, "--no-build-isolation", *words, *exact, str(sources))
    return [Step(label, order.tool.add(python, *exact, str(ready))), Step(f"building {', '.join(built)}", argv)]


def _fitting_steps(order: Order, env: Path, torch: TorchBuild) -> list[Step]:
    python, file = cache.python_of(env), env / "fitting.txt"
    names = wheels.foreign(python) if order.tool.name == "uv" else []
    _, text = pins.split(order.lock.folder / f"{torch.lock}.lock", names)
    if not text:
        return []
    atomic.write_text(file, text)
    return [
        Step(f"taking the wheels of {', '.join(names)} made for this Python", w) for w in wheels.again(python, file)
    ]


def _extras_step(order: Order, env: Path) -> Step:
    argv = order.tool.add(cache.python_of(env), *_kept(env), *order.extras)
    return Step(f"installing {' '.join(order.extras)}", argv)


def _piece_steps(order: Order, env: Path, name: str, variables: Mapping[str, str]) -> list[Step]:
    """Built with the environment's own torch, setuptools and tools, which a build of its own would not see."""
    python, piece, kept = cache.python_of(env), order.pieces[name], _kept(env)
    built = order.tool.add(python, *kept, "--no-build-isolation", "--no-binary", name, *piece.install)
    step = Step(f"building {name}, which can take long", built, variables)
    if not piece.tools:
        return [step]
    tools = order.tool.add(python, *kept, *piece.tools)
    return [Step(f"installing {' '.join(piece.tools)} to build {name} with", tools), step]


def _kept(env: Path) -> tuple[str, str]:
    """The constraint that nothing changes its version which is there by now."""
    found, kept = probe.look(cache.python_of(env)).packages, env / "kept.txt"
    atomic.write_text(kept, "".join(f"{name}=={found[name]}\n" for name in sorted(found) if name not in _OWN))
    return ("-c", str(kept))


def _import_step(order: Order, env: Path) -> Step:
    argv = (str(cache.python_of(env)), "-E", "-c", probe.IMPORTS, *pins.required(order.lock), *order.pieces)
    return Step("importing the packages", argv)


def _verified(order: Order, env: Path, torch: TorchBuild) -> Ready:
    python = cache.python_of(env)
    found = probe.look(python)
    _agree(order, env, compare.locked(order.lock, python, found, pins.expected(order.lock, torch.lock, found.markers)))
    return Ready(
        key=cache.key(order.lock, order.variant, order.more),
        variant=order.variant,
        lock=cache.digest(order.lock, order.variant),
        python=found.python,
        tool=order.tool.version,
        installed=datetime.now(UTC).isoformat(timespec="microseconds"),
        extras=order.more,
        packages=found.packages,
    )


def _agree(order: Order, env: Path, told: Comparison) -> None:
    asked = [word for extra in order.extras for word in ("--with", extra)]
    asked += [word for name in order.pieces for word in ("--build", name)]
    fix = f"without {' '.join(asked)}, or with another version" if asked else "--force"
    if told.problems:
        raise EnvironmentMissing(
            "the environment is not one that can be used",
            where=str(env),
            why="an engine would fail in it, or its numbers could not be compared with any other's",
            fix=f"post-train backends install {order.name} {fix}",
            details=told.problems,
        )
