"""post-train runs compare"""

from __future__ import annotations

import json
from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.errors import UsageError
from orchestrator.fingerprint import drift
from orchestrator.store import store_at


@click.command()
@click.argument("runs_named", metavar="RUN RUN...", nargs=-1, required=True)
@options.RUNS
@options.JSON
def command(runs_named: tuple[str, ...], runs: Path, as_json: bool) -> None:
    """Compare runs: what differs in what makes them what they are, and their metrics side by side."""
    if len(runs_named) < 2:
        raise UsageError("compare wants two runs or more")
    found = [store_at(runs).find(name) for name in runs_named]
    first = found[0].manifest
    differences = {run.id: drift(first.identity, run.manifest.identity) for run in found[1:]}
    metrics = {run.id: run.manifest.metrics for run in found}
    if as_json:
        return click.echo(json.dumps({"against": first.id, "differences": differences, "metrics": metrics}, indent=2))
    for name, lines in differences.items():
        click.echo(f"{first.id} -> {name}" + ("" if lines else ": the same fingerprint"))
        click.echo("\n".join(f"  {line}" for line in lines)) if lines else None
    names = sorted({metric for values in metrics.values() for metric in values})
    click.echo("\n" + "  ".join(["metric".ljust(32), *(run.id for run in found)]))
    for name in names:
        click.echo("  ".join([name.ljust(32), *(_cell(metrics[run.id].get(name)).ljust(len(run.id)) for run in found)]))
    return None


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "-" if value is None else str(value)
