"""post-train verify"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from orchestrator import manifest
from orchestrator.cli import options, stage


@click.command(short_help="Measure a run's model again.")
@click.argument("run", metavar="RUN|FOLDER")
@options.stage_options
def command(run: str, **given: Any) -> None:
    """Measure what RUN made again, in a fresh process, and compare it with its manifest.

    Files against their digests, the base against its own, and what the model answers against its probe. FOLDER is a
    run's folder or the folder of what it made. Ends with exit code 9 where something differs.

    \b
    post-train verify my-sft
    post-train verify runs/my-sft-sft-abc123/artifacts/adapter
    """
    given["parents"] = given["parents"] or (_owner(run),)
    return stage.execute(stage.stage_recipe("verify", given), options.flags(given), stage.request(given))


def _owner(reference: str) -> str:
    """The run behind a folder of artifacts; any other reference as it is."""
    path = Path(reference).absolute()
    owners = [folder for folder in path.parents if (folder / manifest.FILE).is_file()]
    return str(owners[0]) if path.is_dir() and owners and not (path / manifest.FILE).is_file() else reference
