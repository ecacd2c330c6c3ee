"""post-train runs path"""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.errors import RunNotFound
from orchestrator.store import store_at


@click.command()
@click.argument("run")
@click.option(
    "--artifact",
    type=click.Choice(["model", "adapter", "report", "folder"]),
    help="Which; by default what the run made.",
)
@options.RUNS
def command(run: str, artifact: str | None, runs: Path) -> None:
    """Print the folder of what RUN made, for use in other commands."""
    found = store_at(runs).find(run)
    if artifact == "folder":
        return click.echo(found.path)
    held = {a.kind: found.path / a.path for a in found.manifest.artifacts}
    picked = held.get(artifact) if artifact else next(iter(held.values()), None)  # type: ignore[call-overload]
    if picked is None:
        wanted = artifact or "artifact"
        raise RunNotFound(
            f"{found.id} has no {wanted}; it is {found.manifest.state}",
            where=str(found.path),
            fix=f"post-train runs show {found.id}",
        )
    return click.echo(picked)
