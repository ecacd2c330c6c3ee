"""post-train merge"""

from __future__ import annotations

from typing import Any

import click

from orchestrator.cli import options, stage


@click.command(short_help="Merge an adapter.")
@click.argument("run", required=False)
@click.option("--dtype", help="Dtype of the merged weights; auto keeps the base model's.")
@options.stage_options
def command(run: str | None, **given: Any) -> None:
    """Merge the adapter of RUN into the model it was trained on, and check that the result behaves the same.

    \b
    post-train merge latest
    vllm serve $(post-train runs path latest)
    """
    given["parents"] = given["parents"] or ((run,) if run else ())
    return stage.execute(stage.stage_recipe("merge", given), options.flags(given), stage.request(given))
