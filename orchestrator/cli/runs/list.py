"""post-train runs list"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from orchestrator import index
from orchestrator.cli import options, rowview

_SHOWN = 50
_STATES = ("RUNNING", "SUCCEEDED", "FAILED", "INTERRUPTED", "DAMAGED")


@click.command()
@options.RUNS
@options.JSON
@click.option("--state", type=click.Choice(_STATES, case_sensitive=False), help="Only runs in this state.")
@click.option("--all", "everything", is_flag=True, help=f"All of them, not only the newest {_SHOWN}.")
def command(runs: Path, as_json: bool, state: str | None, everything: bool) -> None:
    """List runs, newest first."""
    rows = [row for row in index.rows(runs.expanduser().absolute()) if state is None or row.state == state]
    if as_json:
        return click.echo(json.dumps([asdict(row) for row in rows]))
    if not rows:
        return click.echo(f"no runs in {runs}")
    shown = rows if everything else rows[:_SHOWN]
    click.echo("\n".join(rowview.table(shown)))
    if len(shown) < len(rows):
        click.echo(f"... and {len(rows) - len(shown)} older ones (--all)")
    return None
