"""post-train data prepare"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from data_prep import fresh, inputs, prepare
from data_prep.manifest import DataManifest
from orchestrator.cli.data import request, summary
from orchestrator.errors import OutputExists


@click.command(short_help="Turn files of any known layout into data that trains, with a manifest.")
@request.flags
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder to make.")
def command(sources: tuple[str, ...], output: Path, as_json: bool, **given: Any) -> None:
    """Prepare SOURCE, files or folders, into a folder of train.jsonl, validation.jsonl, ledger.jsonl, manifest.json.

    The folder is what `--data` of `sft` and `rl` takes. A folder that holds what would be made is left as it is.
    """
    with request.told():
        files, options = inputs.inputs(request.paths(sources)), request.options(given)
        found = fresh.fresh(output, files, options)
        if found:
            return _tell(found, output, "unchanged", as_json=as_json)
        if output.exists():
            raise OutputExists("the folder is there already", where=str(output), fix="name another one, or remove it")
        with request.shown("preparing", quiet=as_json) as tick:
            made = prepare.prepare(files, options, output, tick)
        fresh.remember(output, files, [source.sha256 for source in made.sources])
        return _tell(made, output, "made", as_json=as_json)


def _tell(found: DataManifest, output: Path, what: str, *, as_json: bool) -> None:
    if as_json:
        return click.echo(found.model_dump_json(indent=2))
    for line in summary.lines(found):
        click.echo(line)
    return click.echo(f"{what:<9} {output}")
