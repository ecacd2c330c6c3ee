"""post-train runs"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from orchestrator.cli import options, runview
from orchestrator.errors import RunNotFound, UsageError
from orchestrator.fingerprint import drift
from orchestrator.index import Row
from orchestrator.store import Run, Store

_SHOWN = 50
_STATES = ("RUNNING", "SUCCEEDED", "FAILED", "INTERRUPTED", "DAMAGED")


def _store(runs: Path) -> Store:
    return Store(runs.expanduser().absolute())


@click.group(short_help="List, show and remove runs.")
def command() -> None:
    """Runs: a name may be shortened to a unique prefix; `latest` is the newest."""


@command.command("list")
@options.RUNS
@options.JSON
@click.option("--state", type=click.Choice(_STATES, case_sensitive=False), help="Only runs in this state.")
@click.option("--all", "everything", is_flag=True, help=f"All of them, not only the newest {_SHOWN}.")
def list_(runs: Path, as_json: bool, state: str | None, everything: bool) -> None:
    """List runs, newest first."""
    rows = [row for row in _store(runs).rows() if state is None or row.state == state]
    if as_json:
        return click.echo(json.dumps([asdict(row) for row in rows]))
    if not rows:
        return click.echo(f"no runs in {runs}")
    shown = rows if everything else rows[:_SHOWN]
    click.echo("\n".join(runview.table(shown)))
    if len(shown) < len(rows):
        click.echo(f"... and {len(rows) - len(shown)} older ones (--all)")
    return None


@command.command()
@click.argument("run")
@options.RUNS
@options.JSON
def show(run: str, runs: Path, as_json: bool) -> None:
    """Show one run: state, lineage, artifacts, metrics, attempts, failure."""
    found = _store(runs).find(run)
    click.echo(json.dumps(runview.as_dict(found), indent=2) if as_json else "\n".join(runview.details(found)))


@command.command()
@click.argument("run")
@options.RUNS
@options.JSON
def lineage(run: str, runs: Path, as_json: bool) -> None:
    """Show what RUN came from and what came from it."""
    store = _store(runs)
    found = store.find(run)
    rows = {row.id: row for row in store.rows()}
    ancestors = _ancestors(found.id, rows, {found.id: [p.run for p in found.manifest.parents]})
    descendants = _descendants(found.id, rows)
    if as_json:
        nodes = {
            name: {"parents": _parents(name, rows, found), "state": rows[name].state if name in rows else "?"}
            for name in (*ancestors, found.id, *descendants)
        }
        return click.echo(json.dumps({"run": found.id, "runs": nodes}, indent=2))
    base = found.manifest.start.path if not ancestors else _base(ancestors[0], store)
    chain = [*ancestors, found.id, *descendants]
    click.echo(f"{base}")
    for depth, name in enumerate(chain, start=1):
        state = rows[name].state if name in rows else "missing"
        mark = "  <-" if name == found.id else ""
        click.echo(
            f"{'  ' * depth}{name}  {state}  (from {', '.join(_parents(name, rows, found)) or 'the model above'}){mark}"
        )
    return None


def _parents(name: str, rows: dict[str, Row], found: Run) -> list[str]:
    return rows[name].parents if name in rows else [p.run for p in found.manifest.parents] if name == found.id else []


def _base(name: str, store: Store) -> str:
    try:
        return store.find(name).manifest.start.path
    except RunNotFound:
        return "(an ancestor is missing)"


def _ancestors(name: str, rows: dict[str, Row], known: dict[str, list[str]]) -> list[str]:
    line: list[str] = []
    pending = list(known.get(name, rows[name].parents if name in rows else []))
    while pending:
        parent = pending.pop(0)
        if parent not in line:
            line.insert(0, parent)
            pending += rows[parent].parents if parent in rows else []
    return line


def _descendants(name: str, rows: dict[str, Row]) -> list[str]:
    found: list[str] = []
    oldest_first = sorted(rows.values(), key=lambda row: row.created)
    for row in oldest_first:
        if any(parent == name or parent in found for parent in row.parents):
            found.append(row.id)
    return found


@command.command()
@click.argument("runs_named", metavar="RUN RUN...", nargs=-1, required=True)
@options.RUNS
@options.JSON
def compare(runs_named: tuple[str, ...], runs: Path, as_json: bool) -> None:
    """Compare runs: what differs in what makes them what they are, and their metrics side by side."""
    if len(runs_named) < 2:
        raise UsageError("compare wants two runs or more")
    found = [_store(runs).find(name) for name in runs_named]
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


@command.command()
@click.argument("run")
@click.option(
    "--artifact",
    type=click.Choice(["model", "adapter", "report", "folder"]),
    help="Which; by default what the run made.",
)
@options.RUNS
def path(run: str, artifact: str | None, runs: Path) -> None:
    """Print the folder of what RUN made, for use in other commands."""
    found = _store(runs).find(run)
    if artifact == "folder":
        return click.echo(found.path)
    held = {a.kind: found.path / a.path for a in found.manifest.artifacts}
    picked = held.get(artifact) if artifact else next(iter(held.values()), None)  # type: ignore[call-overload]
    if picked is None:
        wanted = artifact or "artifact"
        raise RunNotFound(
            f"{found.id} has no {wanted}; it is {found.manifest.state}",
            where=str(found.path),
            fix=f"post-train runs show {found.id}",
        )
    return click.echo(picked)


@command.command()
@click.argument("runs_named", metavar="RUN...", nargs=-1, required=True)
@options.RUNS
@options.JSON
def rm(runs_named: tuple[str, ...], runs: Path, as_json: bool) -> None:
    """Remove runs. A run that another one starts from is refused, unless that one is named before it."""
    store = _store(runs)
    removed = []
    for name in runs_named:
        removed.append(store.remove(name))
        if not as_json:
            click.echo(f"removed {removed[-1]}")
    if as_json:
        click.echo(json.dumps({"removed": removed}))
