"""post-train eval"""

from __future__ import annotations

from typing import Any

import click

from orchestrator.cli import options, stage
from orchestrator.recipe import Value


@click.command(short_help="Compare models.")
@click.argument("runs_named", metavar="[RUN]...", nargs=-1)
@click.option("--data", help="Held-out items, JSONL with prompt and answer.")
@click.option("--metric", help="exact, contains, or reward:file.py:function.")
@options.stage_options
def command(runs_named: tuple[str, ...], data: str | None, **given: Any) -> None:
    """Compare base, SFT and RL model of the chains that RUN... end, on the same held-out items.

    \b
    post-train eval latest --data held_out.jsonl --metric exact
    """
    given["parents"] = given["parents"] or runs_named
    settings = options.flags(given)
    if data:
        settings["data.eval"] = Value(data, "--data")
    return stage.execute(stage.stage_recipe("eval", given), settings, stage.request(given))
