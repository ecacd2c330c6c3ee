"""post-train runs show"""

from __future__ import annotations

import json
from pathlib import Path

import click

from orchestrator.cli import options, runview
from orchestrator.store import store_at


@click.command()
@click.argument("run")
@options.RUNS
@options.JSON
def command(run: str, runs: Path, as_json: bool) -> None:
    """Show one run: state, lineage, artifacts, metrics, attempts, failure."""
    found = store_at(runs).find(run)
    click.echo(json.dumps(runview.as_dict(found), indent=2) if as_json else "\n".join(runview.details(found)))
