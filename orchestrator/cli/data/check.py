"""post-train data check"""

from __future__ import annotations

from typing import Any

import click

from data_prep import prepare
from orchestrator.cli.data import request, summary


@click.command(short_help="Read everything as prepare does; write nothing.")
@request.flags
def command(sources: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Check SOURCE, files or folders: what prepare would make of them, or why it could not."""
    with request.told():
        files, options = request.read(sources, given)
        with request.shown("checking", quiet=as_json) as tick:
            found = prepare.check(files, options, tick)
    if as_json:
        return click.echo(found.model_dump_json(indent=2))
    return click.echo("\n".join(summary.lines(found)))
