"""post-train tasks list"""

from __future__ import annotations

import json

import click

from orchestrator.cli import options
from orchestrator.tasks.loading import shipped, summary


@click.command(short_help="Name the tasks that come along.")
@options.JSON
def command(as_json: bool) -> None:
    """Name the tasks that come along, with what they are about."""
    found = {name: {"path": str(file), "summary": summary(file)} for name, file in shipped().items()}
    if as_json:
        return click.echo(json.dumps([{"name": name, **facts} for name, facts in found.items()], indent=2))
    width = max(len(name) for name in found)
    for name, facts in found.items():
        click.echo(f"{name:<{width}}  {facts['summary']}")
    return None
