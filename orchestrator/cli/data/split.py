"""post-train data split"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from data_prep import anew, prepare
from orchestrator.cli.data import request, summary
from orchestrator.cli.options import JSON

_SHARE = click.FloatRange(0, 1)


@click.command(short_help="Divide prepared data anew: other shares, another seed.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to make.")
@click.option("--validation", type=_SHARE, default=0.05, show_default=True, help="Share held out for validation.")
@click.option("--test", type=_SHARE, default=0.0, show_default=True, help="Share held out for tests.")
@click.option("--seed", type=int, default=42, show_default=True, help="Seed of the split.")
@JSON
def command(folder: Path, output: Path, as_json: bool, **given: Any) -> None:
    """Divide the rows of the prepared FOLDER anew. A row goes where its prompt's seeded hash puts it."""
    with request.told():
        files, options = anew.anew(folder, request.shares(given))
        with request.shown("splitting", quiet=as_json) as tick:
            made = prepare.prepare(files, options, output, tick)
    click.echo(made.model_dump_json(indent=2) if as_json else "\n".join([*summary.lines(made), f"made      {output}"]))
