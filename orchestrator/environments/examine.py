"""A thorough look at an environment: every version against the lock, and an import of what the engine needs."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import process
from orchestrator.backend import EnvLock
from orchestrator.environments import cache, pins, probe
from orchestrator.envs import EnvRef
from orchestrator.errors import EnvironmentMissing
from orchestrator.spec import Part

_IMPORT_LIMIT = 600.0


class Report(Part):
    """What was found.

    Attributes:
        python: its version; None when it doesn't answer.
        locked, found: name -> version of the packages that the engine can't do without.
        problems: why it can't be used; none means it can.
        notes: what is worth knowing and prevents nothing.
        fix: the command that mends the problems.
    """

    env: EnvRef
    python: str | None
    locked: dict[str, str]
    found: dict[str, str]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    fix: str | None


def examine(env: EnvRef, lock: EnvLock) -> Report:
    """Look into an environment; takes as long as importing its packages."""
    given = env.variant == "given"
    if not given and not env.ready:
        return _report(env, lock, None, [_unready(env)])
    try:
        look = probe.look(env.python)
    except EnvironmentMissing as error:
        return _report(env, lock, None, [*env.problems] or [f"{env.python}: {error.what}"])
    told = pins.differences(_wanted(env, lock, look), look.packages, pins.named(lock) if given else None)
    problems = [*env.problems] if given else told
    notes = [line for line in told if line not in problems]
    return _report(env, lock, look, problems or _imports(env, lock), notes)


def _wanted(env: EnvRef, lock: EnvLock, look: probe.Look) -> dict[str, str]:
    return pins.expected(lock, "cuda" if env.variant == "cuda" else "cpu", look.markers)


def _report(
    env: EnvRef, lock: EnvLock, look: probe.Look | None, problems: list[str], notes: Sequence[str] = ()
) -> Report:
    names = pins.required(lock)
    wanted, packages = (_wanted(env, lock, look), look.packages) if look else ({}, {})
    return Report(
        env=env,
        python=look.python if look else None,
        locked={name: wanted[name] for name in names if name in wanted},
        found={name: packages[name] for name in names if name in packages},
        problems=tuple(problems),
        notes=tuple(notes),
        fix=_fix(env) if problems else None,
    )


def _unready(env: EnvRef) -> str:
    if env.folder.exists():
        return f"{env.folder} is unfinished or damaged: no valid {cache.READY}"
    return f"not installed ({env.variant} variant)"


def _imports(env: EnvRef, lock: EnvLock) -> list[str]:
    argv = (str(env.python), "-E", "-c", probe.IMPORTS, *pins.required(lock))
    variables = process.clean_environment({})
    outcome = process.run(argv, timeout=_IMPORT_LIMIT, cwd=env.python.parent, env=variables)
    if outcome.code == 0:
        return []
    last = [line.strip() for line in outcome.err.splitlines() if line.strip()][-1:]
    return ["a package can't be imported: " + "".join(last)]


def _fix(env: EnvRef) -> str:
    if env.variant == "given":
        return f"install what is missing there, or leave --env out: post-train backends install {env.name}"
    force = " --force" if env.folder.exists() else ""
    return f"post-train backends install {env.name} --variant {env.variant}{force}"
