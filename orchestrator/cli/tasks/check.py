"""post-train tasks check"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from orchestrator.cli import options
from orchestrator.cli.tasks import request
from orchestrator.errors import PreflightError
from orchestrator.tasks import Task, load
from orchestrator.tasks.checking import Checked, check
from orchestrator.tasks.trial import names


@click.command(short_help="Say what would stop learning.")
@click.argument("task")
@request.OPTION
@click.option("--samples", "count", type=click.IntRange(1), default=8, show_default=True, help="Of each split.")
@options.JSON
@click.pass_context
def command(ctx: click.Context, *, task: str, options: tuple[str, ...], count: int, as_json: bool) -> None:
    """Say what would stop learning from TASK: no difference between good and bad answers, rewards that fail or vary,
    wrong lengths, splits that overlap. Ends with exit code 5 when something would."""
    made = load(task, request.pairs(options))
    found = asyncio.run(check(made, count))
    failed = any(problem.level == "error" for problem in found.problems)
    click.echo(json.dumps(_data(made, found), indent=2) if as_json else "\n".join(_lines(made, found)))
    ctx.exit(PreflightError.exit_code if failed else 0)


def _data(task: Task, found: Checked) -> dict[str, object]:
    return {
        "task": task.name,
        "train": len(task.train),
        "validation": len(task.validation),
        "rewards": _earned(task, found),
        "problems": [asdict(problem) for problem in found.problems],
    }


def _earned(task: Task, found: Checked) -> dict[str, float]:
    """Policy -> mean reward."""
    totals = {name: [t.scores.total for t in found.trials if t.policy == name] for name in names(task)}
    return {name: sum(values) / len(values) for name, values in totals.items() if values}


def _lines(task: Task, found: Checked) -> Iterator[str]:
    yield f"{task.name}: {len(task.train)} training samples, {len(task.validation)} for validation"
    for name, mean in _earned(task, found).items():
        yield f"  {name:<10} earns {mean:.3g}"
    for problem in found.problems:
        yield f"{problem.level} {problem.code}: {f'{problem.where}: ' if problem.where else ''}{problem.message}"
        yield f"  fix: {problem.fix}"
    if not found.problems:
        yield "no problem found"
