"""post-train runs rm"""

from __future__ import annotations

import json
from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.store import store_at


@click.command()
@click.argument("runs_named", metavar="RUN...", nargs=-1, required=True)
@options.RUNS
@options.JSON
def command(runs_named: tuple[str, ...], runs: Path, as_json: bool) -> None:
    """Remove runs: all of them or none. A run that another one starts from is refused, unless that one goes, too."""
    removed = store_at(runs).remove(runs_named)
    click.echo(json.dumps({"removed": removed}) if as_json else "\n".join(f"removed {name}" for name in removed))
