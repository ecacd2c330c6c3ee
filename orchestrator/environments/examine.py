"""A thorough look at an environment: versions, known conflicts, optional pieces, and an import of what is needed."""

from __future__ import annotations

from orchestrator.backend import EnvLock
from orchestrator.environments import cache, compare, conflicts, optional, pins, probe
from orchestrator.environments.compare import Comparison
from orchestrator.environments.conflicts import Conflict
from orchestrator.envs import EnvRef
from orchestrator.errors import EnvironmentMissing
from orchestrator.spec import Part


class PieceFound(Part):
    """An optional package: what for, its version where it is there, and what installs it where something can."""

    purpose: str
    found: str | None
    fix: str | None


class Report(Part):
    """What was found.

    Attributes:
        python: its version; None when it doesn't answer.
        locked, found: name -> version of the packages that matter: what the engine can't do without, and what
            conflicts are known of.
        pieces: distribution name -> optional package.
        conflicts: known ones that were seen, each with its own fix; their messages are among problems and notes.
        problems: why it can't be used; none means it can.
        notes: what is worth knowing and prevents nothing.
        fix: the command that mends the problems.
    """

    env: EnvRef
    python: str | None
    locked: dict[str, str]
    found: dict[str, str]
    pieces: dict[str, PieceFound] = {}
    conflicts: tuple[Conflict, ...] = ()
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    fix: str | None


def examine(env: EnvRef, lock: EnvLock) -> Report:
    """Look into an environment; takes as long as importing its packages."""
    given = env.variant == "given"
    if not given and not env.ready:
        return _report(env, lock, None, Comparison([_unready(env)], [], []))
    try:
        look = probe.look(env.python)
    except EnvironmentMissing as error:
        return _report(env, lock, None, Comparison([*env.problems] or [f"{env.python}: {error.what}"], [], []))
    told = compare.given(lock, env.python, look, pins.named(lock)) if given else _locked(env, lock, look)
    problems = [*env.problems] if given else told.problems
    return _report(env, lock, look, Comparison(problems or _imports(env, lock), told.differences, told.conflicts))


def _locked(env: EnvRef, lock: EnvLock, look: probe.Look) -> Comparison:
    return compare.locked(lock, env.python, look, _wanted(env, lock, look))


def _wanted(env: EnvRef, lock: EnvLock, look: probe.Look) -> dict[str, str]:
    return pins.expected(lock, "cuda" if env.variant == "cuda" else "cpu", look.markers)


def _report(env: EnvRef, lock: EnvLock, look: probe.Look | None, told: Comparison) -> Report:
    names = dict.fromkeys([*pins.required(lock), *(n for known in conflicts.read(lock) for n in known.packages)])
    wanted, packages = (_wanted(env, lock, look), look.packages) if look else ({}, {})
    return Report(
        env=env,
        python=look.python if look else None,
        locked={name: wanted[name] for name in names if name in wanted},
        found={name: packages[name] for name in names if name in packages},
        pieces=_pieces(env.name, lock, packages) if look else {},
        conflicts=tuple(told.conflicts),
        problems=tuple(told.problems),
        notes=tuple(told.differences),
        fix=_fix(env) if told.problems else None,
    )


def _pieces(backend: str, lock: EnvLock, packages: dict[str, str]) -> dict[str, PieceFound]:
    known = optional.read(lock).piece
    build = f"post-train backends install {backend} --variant cuda"
    fixes = {name: build + optional.flags([name]) if piece.install else None for name, piece in known.items()}
    return {
        name: PieceFound(purpose=piece.purpose, found=packages.get(name), fix=None if name in packages else fixes[name])
        for name, piece in known.items()
    }


def _unready(env: EnvRef) -> str:
    if env.folder.exists():
        return f"{env.folder} is unfinished or damaged: no valid {cache.READY}"
    return f"not installed ({env.variant} variant)"


def _imports(env: EnvRef, lock: EnvLock) -> list[str]:
    said = probe.broken(env.python, tuple(pins.required(lock)))
    return [] if said is None else [f"a package can't be imported: {said}"]


def _fix(env: EnvRef) -> str:
    if env.variant == "given":
        return f"mend that environment, or leave --env out: post-train backends install {env.name}"
    force = " --force" if env.folder.exists() else ""
    return f"post-train backends install {env.name} --variant {env.variant}{force}"
