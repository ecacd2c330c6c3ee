"""post-train tasks new"""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator import atomic
from orchestrator.errors import OutputExists
from orchestrator.tasks.loading import TEMPLATE


@click.command(short_help="Write a task file to start from.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def command(file: Path) -> None:
    """Write FILE, a task to start from, and its rows beside it."""
    path = file if file.suffix == ".py" else file.with_suffix(".py")
    rows = path.with_suffix(".jsonl")
    for target in (path, rows):
        if target.exists():
            raise OutputExists("the file is there already", where=str(target), fix="name another file")
    for target, source in ((rows, TEMPLATE.with_suffix(".jsonl")), (path, TEMPLATE)):
        atomic.write_text(target, source.read_text(encoding="utf-8"))
    click.echo(f"wrote {path} and {rows}\nnext: post-train tasks check {path}")
