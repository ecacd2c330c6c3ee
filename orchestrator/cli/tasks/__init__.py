"""post-train tasks"""

from __future__ import annotations

import click

from orchestrator.cli.lazy import LazyGroup

COMMANDS = {
    "list": "Name the tasks that come along.",
    "try": "Play samples without a model; print messages and rewards.",
    "check": "Say what would stop learning.",
    "new": "Write a task file to start from.",
    "serve": "Serve passages for Search-R1 on this machine.",
}


@click.group(cls=LazyGroup, package="orchestrator.cli.tasks", commands=COMMANDS, short_help="List and try RL tasks.")
def command() -> None:
    """List, try and check tasks: what reinforcement learning optimises. TASK is a name or `file.py[:NAME]`."""
