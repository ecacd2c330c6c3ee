"""post-train data"""

from __future__ import annotations

import click

from orchestrator.cli.lazy import LazyGroup

COMMANDS = {
    "prepare": "Turn files of any known layout into data that trains, with a manifest.",
    "check": "Read everything as prepare does; write nothing.",
    "stats": "What a prepared folder holds.",
    "show": "Print rows as the model sees them.",
    "split": "Divide prepared data anew: other shares, another seed.",
}


@click.group(cls=LazyGroup, package="orchestrator.cli.data", commands=COMMANDS, short_help="Prepare and check data.")
def command() -> None:
    """From whatever people have to data that trains."""
