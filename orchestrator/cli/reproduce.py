"""post-train reproduce"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from orchestrator import fingerprint, plan, progress, reproduction
from orchestrator.cli import options, stage
from orchestrator.errors import HandoffError, PreflightError, UsageError
from orchestrator.plan import RunPlan
from orchestrator.reproduction import Comparison
from orchestrator.runner import Runner
from orchestrator.store import Run


@click.command(short_help="Run a stage again and compare.")
@click.argument("reference", metavar="RUN")
@options.RUNS
@options.ENV
@options.JSON
def command(reference: str, **given: Any) -> None:
    """Run the stage of RUN again, as a new run, and compare what comes out: metrics, probe, every file.

    On a CPU the result is the same to the bit, or the command says what differs and ends with exit code 9.

    \b
    post-train reproduce my-sft
    """
    wanted = stage.request(given)
    shown = progress.make(wanted.as_json)
    planner = stage.planner_of(wanted, shown)
    run = planner.store.find(reference)
    _refuse_unfinished(run)
    again = planner.again(run)
    _refuse_drift(run, again)
    plan.refuse([again])
    made = Runner(planner.store, shown, shown.say).start(again)
    found = reproduction.compare(run.manifest, made.manifest)
    _print(run, made, found, as_json=wanted.as_json)
    _require_same(run, found)


def _refuse_unfinished(run: Run) -> None:
    if run.manifest.state != "SUCCEEDED":
        raise UsageError(
            f"{run.id} is {run.manifest.state}, so there is nothing to compare with", fix="finish it first"
        )


def _refuse_drift(run: Run, again: RunPlan) -> None:
    """What can't come out the same is not tried: a fingerprint names everything that goes in."""
    if again.fingerprint == run.manifest.fingerprint:
        return
    raise PreflightError(
        f"{run.id} can't be reproduced here: what goes in is not what went in then",
        details=fingerprint.drift(run.manifest.identity, again.identity),
        why="the result would differ, and nothing could be said about the run",
        fix="put the old data, model or code back; for another engine, name its environment with --env",
    )


def _print(run: Run, made: Run, found: Comparison, *, as_json: bool) -> None:
    if as_json:
        facts = {"run": run.id, "again": made.id, "same": found.same, **asdict(found)}
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo("\n".join([f"{run.id} again as {made.id}", "fingerprint the same", *found.lines()]))


def _require_same(run: Run, found: Comparison) -> None:
    if found.same:
        return
    on_gpu = bool(run.manifest.provenance.get("hardware", {}).get("gpus"))
    why = "kernels on a GPU add in another order each time" if on_gpu else "on a CPU the same plan makes the same bytes"
    raise HandoffError(f"{run.id} did not come out the same again", why=why, fix="look at what differs above")
