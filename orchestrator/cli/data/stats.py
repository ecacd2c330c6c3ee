"""post-train data stats"""

from __future__ import annotations

from pathlib import Path

import click

from data_prep import manifest
from orchestrator.cli.data import request, summary
from orchestrator.cli.options import JSON


@click.command(short_help="What a prepared folder holds.")
@click.argument("folder", type=click.Path(path_type=Path))
@JSON
def command(folder: Path, as_json: bool) -> None:
    """Print what is known of the prepared FOLDER, from its manifest."""
    with request.told():
        found = manifest.read(folder)
    if as_json:
        return click.echo(found.model_dump_json(indent=2))
    shapes = [line for split, shape in found.tokens.items() for line in summary.histogram(split, shape)]
    return click.echo("\n".join([*summary.lines(found), *shapes]))
