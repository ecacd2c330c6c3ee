"""post-train runs lineage"""

from __future__ import annotations

import json
from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.errors import RunNotFound
from orchestrator.index import Row
from orchestrator.manifest import DataParent
from orchestrator.store import Run, Store, store_at


@click.command()
@click.argument("run")
@options.RUNS
@options.JSON
def command(run: str, runs: Path, as_json: bool) -> None:
    """Show what RUN came from and what came from it."""
    store = store_at(runs)
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
        for data in _data(name, store):
            click.echo(f"{'  ' * depth}data {data.folder}  {data.digest[:23]}")
        click.echo(
            f"{'  ' * depth}{name}  {state}  (from {', '.join(_parents(name, rows, found)) or 'the model above'}){mark}"
        )
    return None


def _parents(name: str, rows: dict[str, Row], found: Run) -> list[str]:
    return rows[name].parents if name in rows else [p.run for p in found.manifest.parents] if name == found.id else []


def _data(name: str, store: Store) -> tuple[DataParent, ...]:
    try:
        return store.find(name).manifest.data
    except RunNotFound:
        return ()


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
