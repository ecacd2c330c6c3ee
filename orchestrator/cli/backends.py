"""post-train backends"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli.options import ENV, JSON

if TYPE_CHECKING:
    from orchestrator.backend import Backend, EnvLock
    from orchestrator.environments.examine import PieceFound, Report
    from orchestrator.envs import EnvRef

VARIANT = click.option("--variant", type=click.Choice(["cpu", "cuda"]), help="Default: what the hardware here wants.")


@click.group(name="backends", invoke_without_command=True, short_help="List, install and examine engines.")
@JSON
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List engines: what each can do, and whether its environment is there."""
    if ctx.invoked_subcommand is not None:
        return
    from orchestrator import hardware, registry

    machine = hardware.detect()
    rows = [_row(registry.load(name), machine.variant) for name in registry.names()]
    click.echo(json.dumps({"backends": rows}, indent=2) if as_json else "\n\n".join(map(_shown, rows)))


@command.command()
@click.argument("name")
@VARIANT
@click.option("--find-links", metavar="PLACE", help="Folder or page with wheels; for a CPU build of torch.")
@click.option("--with", "extras", multiple=True, metavar="PKG", help="A further package; no locked version moves.")
@click.option("--build", "pieces", multiple=True, metavar="NAME", help="An optional piece that is compiled here.")
@click.option("--tool", type=click.Choice(["uv", "pip"]), help="Installer. Default: uv when it is there, else pip.")
@click.option("--force", is_flag=True, help="Build it anew.")
@JSON
def install(name: str, variant: str | None, as_json: bool, **given: Any) -> None:
    """Install the environment of backend NAME from its lock. Does nothing when it is there.

    \b
    post-train backends install trl
    post-train backends install trl --variant cpu --find-links ~/wheels
    post-train backends install trl --with math-verify
    post-train backends install axolotl --variant cuda --build flash-attn

    `post-train backends doctor NAME` lists the optional pieces, and what each is for. Building one takes CUDA_HOME,
    CC, CXX and TORCH_CUDA_ARCH_LIST, or what it finds here.
    """
    from orchestrator import envs, hardware, registry

    lock = registry.load(name).lock()
    if lock is None:
        return _none_needed(name, as_json)
    wanted = variant or hardware.detect().variant
    env = envs.install(lock, name, wanted, say=lambda line: click.echo(line, err=True), **given)
    size = f"{len(env.packages or {})} packages"
    click.echo(json.dumps(_environment(env), indent=2) if as_json else f"ready: {env.folder} ({size})")
    return None


@command.command()
@click.argument("name")
@VARIANT
@ENV
@JSON
def doctor(name: str, variant: str | None, env: str | None, as_json: bool) -> None:
    """Examine the environment of backend NAME.

    Versions against the lock, known conflicts, optional pieces, and an import of every package it needs.

    Exit code 4 when it can't be used.
    """
    from orchestrator.environments.examine import examine

    found, lock = _find(name, variant, env)
    if lock is None:
        return _none_needed(name, as_json)
    report = examine(found, lock)
    shown = report.model_dump(mode="json", exclude={"env"}) | {"environment": _environment(found)}
    click.echo(json.dumps(shown, indent=2) if as_json else "\n".join(_findings(report)))
    if report.problems:
        from orchestrator.errors import EnvironmentMissing

        sys.exit(EnvironmentMissing.exit_code)
    return None


@command.command()
@click.argument("name")
@VARIANT
@ENV
def path(name: str, variant: str | None, env: str | None) -> None:
    """Print the Python that backend NAME runs in."""
    from orchestrator.errors import EnvironmentMissing

    found, _ = _find(name, variant, env)
    if not found.ready:
        problem = found.problems[0] if found.problems else f"the {found.variant} environment of {name} is not installed"
        raise EnvironmentMissing(problem, fix=f"post-train backends install {name}")
    click.echo(str(found.python))


def _find(name: str, variant: str | None, choice: str | None) -> tuple[EnvRef, EnvLock | None]:
    from orchestrator import envs, hardware, registry

    lock, machine = registry.load(name).lock(), hardware.detect()
    if lock is not None and choice is None:
        return envs.locked(name, lock, variant or machine.variant), lock
    return envs.locate(name, lock, machine, choice), lock


def _none_needed(name: str, as_json: bool) -> None:
    told = f"{name} runs in post-train's own Python; there is nothing to install"
    click.echo(json.dumps({"name": name, "ready": True, "note": told}) if as_json else told)


def _environment(env: EnvRef) -> dict[str, Any]:
    return env.model_dump(mode="json")


def _row(backend: Backend, variant: str) -> dict[str, Any]:
    from orchestrator import envs

    able, lock = backend.capabilities(), backend.lock()
    env = envs.locked(backend.name, lock, variant) if lock else None
    return {
        "name": backend.name,
        "summary": backend.summary,
        "stages": {stage: list(methods) for stage, methods in able.methods.items()},
        "sharding": list(able.sharding),
        "ready": env.ready if env else True,
        "environment": _environment(env) if env else None,
    }


def _shown(row: dict[str, Any]) -> str:
    env = row["environment"]
    stages = ", ".join(
        stage + (f" ({' '.join(methods)})" if methods else "") for stage, methods in row["stages"].items()
    )
    state = (
        f"ready, {env['folder']}"
        if env and env["ready"]
        else f"not installed; post-train backends install {row['name']}"
    )
    return "\n".join(
        (
            f"{row['name']}: {row['summary']}",
            f"  stages       {stages}",
            f"  sharding     {', '.join(row['sharding'])}",
            f"  environment  {state if env else 'none needed'}",
        )
    )


def _findings(report: Report) -> list[str]:
    lines = [f"{report.env.name}: {report.env.python}" + (f" (Python {report.python})" if report.python else "")]
    rows = [(name, report.found.get(name, "missing"), f"lock {version}") for name, version in report.locked.items()]
    optional = [(name, piece) for name, piece in report.pieces.items() if name not in report.locked]
    rows += [(name, piece.found or "not there", _purpose(piece)) for name, piece in optional]
    lines += [f"  {name:<18} {found:<14} {text}" for name, found, text in rows]
    fixes = {conflict.message: [f"  fix: {conflict.fix}"] for conflict in report.conflicts}
    for kind, texts in (("problem", report.problems), ("note", report.notes)):
        lines += [line for text in texts for line in (f"{kind}: {text}", *fixes.get(text, ()))]
    return [*lines, f"fix: {report.fix}" if report.fix else "usable"]


def _purpose(piece: PieceFound) -> str:
    return f"for {piece.purpose}" + (f"; {piece.fix}" if piece.fix else "")
