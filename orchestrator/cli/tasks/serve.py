"""post-train tasks serve"""

from __future__ import annotations

from pathlib import Path

import click

from orchestrator.tasks.retrieval.index import Index
from orchestrator.tasks.retrieval.passages import read_passages
from orchestrator.tasks.retrieval.server import Server
from orchestrator.tasks.shipped.search_r1 import ROWS


@click.command(short_help="Serve passages for Search-R1 on this machine.")
@click.argument("passages", type=click.Path(path_type=Path, dir_okay=False), default=ROWS / "passages.jsonl")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
def command(passages: Path, port: int) -> None:
    """Serve PASSAGES on this machine, for Search-R1 and anything else that posts to /retrieve. Ctrl-C ends it."""
    found = read_passages(passages)
    with Server(Index(found), port) as server:
        click.echo(f"{len(found)} passages at {server.url}")
        server.serve_forever()
