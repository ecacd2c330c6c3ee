"""post-train runs"""

from __future__ import annotations

import click

from orchestrator.cli.lazy import LazyGroup

COMMANDS = {
    "list": "List runs, newest first.",
    "show": "Show one run: state, lineage, artifacts, metrics, attempts, failure.",
    "lineage": "Show what a run came from and what came from it.",
    "compare": "Compare runs: what makes them what they are, and their metrics.",
    "path": "Print the folder of what a run made, for use in other commands.",
    "rm": "Remove runs; one that another starts from is refused.",
}


@click.group(cls=LazyGroup, package=__name__, commands=COMMANDS, short_help="List, show and remove runs.")
def command() -> None:
    """Runs: a name may be shortened to a unique prefix; `latest` is the newest."""
