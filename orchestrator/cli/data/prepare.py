"""post-train data prepare"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from data_prep import fresh, prepare
from data_prep.manifest import DataManifest
from orchestrator.cli.data import request, summary


@click.command(short_help="Turn files of any known layout into data that trains, with a manifest.")
@request.flags
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to make.")
@click.option("--output-root", type=click.Path(path_type=Path), help="Folder to make it in, under the source's name.")
def command(
    sources: tuple[str, ...], output: Path | None, output_root: Path | None, as_json: bool, **given: Any
) -> None:
    """Prepare SOURCE, files or folders, into a folder of train.jsonl, validation.jsonl, ledger.jsonl, manifest.json.

    The folder is what `--data` of `sft` and `rl` takes. A folder that holds what would be made is left as it is.
    """
    with request.told():
        output = _folder(sources, output, output_root)
        files, options = request.read(sources, given)
        found = fresh.fresh(output, files, options)
        if found:
            return _tell(found, output, "unchanged", as_json=as_json)
        with request.shown("preparing", quiet=as_json) as tick:
            made = prepare.prepare(files, options, output, tick)
        fresh.remember(output, files, made, options)
        return _tell(made, output, "made", as_json=as_json)


def _folder(sources: tuple[str, ...], output: Path | None, root: Path | None) -> Path:
    """The folder to make.

    Raises:
        UsageError: neither is named, or both are.
    """
    if (output is None) == (root is None):
        raise click.UsageError("name the folder to make with --output, or the one to make it in with --output-root")
    if output:
        return output
    assert root
    return root / Path(sources[0]).name.partition(".")[0]


def _tell(found: DataManifest, output: Path, what: str, *, as_json: bool) -> None:
    if as_json:
        return click.echo(found.model_dump_json(indent=2))
    for line in summary.lines(found):
        click.echo(line)
    return click.echo(f"{what:<9} {output}")
