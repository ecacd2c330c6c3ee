"""post-train run"""

from __future__ import annotations

from typing import Any

import click

from orchestrator import library
from orchestrator.cli import options, stage
from orchestrator.errors import UsageError


@click.command(short_help="Run a recipe.")
@click.argument("recipe", required=False)
@options.RUNS
@options.ENV
@options.SETTING
@options.SMOKE
@options.PROOF
@options.DRY
@options.JSON
@click.option(
    "--reuse", is_flag=True, help="Take finished stages with the same fingerprint instead of running them again."
)
@click.option("--resume", metavar="RUN", help="Go on with a stopped run; takes no other setting.")
def command(recipe: str | None, **given: Any) -> None:
    """Run RECIPE: a file, or the name of a shipped one (post-train recipes).

    \b
    post-train run quickstart
    post-train run my.yaml --set training.max_steps=100
    post-train run my.yaml --smoke
    """
    if given["resume"] is not None:
        return stage.resume(given["resume"], {**given, "recipe": recipe})
    if not recipe:
        raise UsageError("name a recipe to run, or a run with --resume", fix="post-train recipes")
    return stage.execute(library.find(recipe), options.flags(given), stage.request(given))
