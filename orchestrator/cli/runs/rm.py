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
    """Remove runs. A run that another one starts from is refused, unless that one is named before it."""
    store = store_at(runs)
    removed = []
    for name in runs_named:
        removed.append(store.remove(name))
        if not as_json:
            click.echo(f"removed {removed[-1]}")
    if as_json:
        click.echo(json.dumps({"removed": removed}))
