"""post-train data check"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from data_prep import manifest, prepare
from orchestrator.cli.data import request, summary
from orchestrator.cli.options import ENV
from orchestrator.errors import DataError, UsageError


@click.command(short_help="Read everything as prepare does; write nothing.")
@request.flags
@click.option("--processor", metavar="BACKEND", help="Run the model's processor over a prepared folder, there.")
@click.option("--sample", type=click.IntRange(1), help="With --processor: look at about so many rows, evenly spread.")
@ENV
def command(
    sources: tuple[str, ...], processor: str | None, sample: int | None, env: str | None, as_json: bool, **given: Any
) -> None:
    """Check SOURCE, files or folders: what prepare would make of them, or why it could not.

    With --processor, SOURCE is a prepared folder. Every row goes through the processor of --model in the environment of
    BACKEND: it must take the row, write one place for each picture, and make as many places for patches as patches.
    """
    if processor:
        return _processed(sources, processor, sample, env, as_json=as_json, **given)
    with request.told():
        files, options = request.read(sources, given)
        with request.shown("checking", quiet=as_json) as tick:
            found = prepare.check(files, options, tick)
    if as_json:
        return click.echo(found.model_dump_json(indent=2))
    return click.echo("\n".join(summary.lines(found)))


def _processed(
    sources: tuple[str, ...], backend: str, sample: int | None, env: str | None, *, as_json: bool, **given: Any
) -> None:
    """Run the processor, and refuse rows at fault."""
    from orchestrator import processor

    model: Path | None = given["model"]
    if model is None or len(sources) != 1:
        fix = "post-train data check FOLDER --model MODEL --processor BACKEND"
        raise UsageError("the processor is that of a model, and runs over one prepared folder", fix=fix)
    folder = Path(sources[0]).expanduser()
    with request.told():
        found = manifest.read(folder)
    python = processor.python(backend, env)
    with request.rows("processing", quiet=as_json) as tick:
        looked = processor.look(
            folder, found, model.expanduser(), python, tick, sample=sample, limit=given["max_tokens"]
        )
    told = looked.summary()
    click.echo(json.dumps(told, indent=2) if as_json else "\n".join(summary.processed(told)))
    if looked.faults:
        where, _, what = looked.first[0].partition(": ")
        count = f"{looked.faults.total():,} of {looked.rows:,} rows"
        fix = "mend the rows, shorten them or take smaller pictures; prepare again"
        raise DataError(f"{what}; {count} are at fault", where=where, fix=fix, details=tuple(looked.first[1:]))
