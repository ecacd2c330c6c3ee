"""post-train plan"""

from __future__ import annotations

from typing import Any

import click

from orchestrator import library
from orchestrator.cli import options, stage


@click.command(short_help="Show a plan.")
@click.argument("recipe")
@options.RUNS
@options.ENV
@options.SETTING
@options.SMOKE
@options.JSON
@click.option("--reuse", is_flag=True, help="Plan as `run --reuse` would.")
def command(recipe: str, **given: Any) -> None:
    """Show what RECIPE would run: native files, commands, expected artifacts, findings. Starts nothing."""
    return stage.execute(library.find(recipe), options.sets(given["sets"]), stage.request({**given, "dry_run": True}))
