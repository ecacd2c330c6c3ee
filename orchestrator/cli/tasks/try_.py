"""post-train tasks try"""

from __future__ import annotations

import asyncio
import json

import click

from orchestrator.cli import options
from orchestrator.cli.tasks import request, trialview
from orchestrator.tasks import load
from orchestrator.tasks.order import Order
from orchestrator.tasks.trial import attempt, names


@click.command(short_help="Play samples without a model; print messages and rewards.")
@click.argument("task")
@request.OPTION
@click.option("--policy", help="Who plays: reference, empty or garbage. Default: the first that the task has.")
@click.option("--split", type=click.Choice(["train", "validation"]), default="train", show_default=True)
@click.option("--samples", "count", type=click.IntRange(1), default=2, show_default=True, help="How many are played.")
@click.option("--seed", type=int, default=0, show_default=True, help="Order of the samples.")
@options.JSON
def command(
    *, task: str, options: tuple[str, ...], policy: str | None, split: str, count: int, seed: int, as_json: bool
) -> None:
    """Play some samples of TASK with a scripted policy and print all messages and rewards."""
    made = load(task, request.pairs(options))
    order = Order(made.train if split == "train" else made.validation, seed)
    chosen = policy or names(made)[0]
    trials = [asyncio.run(attempt(made, order[place], chosen)) for place in range(count)]
    if as_json:
        return click.echo(json.dumps([trialview.data(trial) for trial in trials], indent=2, ensure_ascii=False))
    return click.echo("\n\n".join("\n".join(trialview.lines(trial)) for trial in trials))
