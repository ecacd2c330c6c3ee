"""How one stage looks planned with several engines: their files side by side, where the terminal has the room."""

from __future__ import annotations

import json
import shutil
import textwrap
from itertools import zip_longest
from typing import Any

import click

from orchestrator import landing
from orchestrator.cli import planview
from orchestrator.landing import Row
from orchestrator.plan import RunPlan

_GAP = " | "
_NARROWEST = 60
"""Columns below which a file can't be read any more."""
_LONGEST = 36
"""Characters shown of one value in the table."""
_LEGEND = "(key: value where the file has another value than the recipe; - where the file says nothing)"


def show(stages: list[list[RunPlan]], as_json: bool) -> None:
    """Print stages, each as planned with every engine."""
    if as_json:
        click.echo(json.dumps([_as_dict(plans) for plans in stages], indent=2))
        return
    for plans in stages:
        click.echo("\n".join(_lines(plans)))
    click.echo("nothing was started")


def _as_dict(plans: list[RunPlan]) -> dict[str, Any]:
    settings = [row.model_dump(mode="json") for row in landing.rows(plans)]
    return {"stage": plans[0].spec.stage, "settings": settings, "plans": [planview.as_dict(plan) for plan in plans]}


def _lines(plans: list[RunPlan]) -> list[str]:
    names = [plan.spec.backend for plan in plans]
    title = f"{plans[0].spec.stage} {plans[0].spec.method} with {' and '.join(names)}"
    table = _table(landing.rows(plans), names)
    width = (shutil.get_terminal_size().columns - len(_GAP) * (len(plans) - 1)) // len(plans)
    shown = [planview.lines(plan) for plan in plans]
    side = _columns(shown, width) if width >= _NARROWEST and len(plans) > 1 else [line for one in shown for line in one]
    return ["", click.style(title, bold=True), *table, *side, ""]


def _table(rows: list[Row], names: list[str]) -> list[str]:
    """Setting, value, and each engine's key; with the value there, where it is another."""
    cells = [("setting", "value", *names)]
    cells += [(row.setting, _short(row.value), *(_place(row, name) for name in names)) for row in rows]
    widths = [max(len(line[n]) for line in cells) for n in range(len(cells[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
    return ["", *(f"  {line}".rstrip() for line in lines), f"  {_LEGEND}"] if rows else []


def _place(row: Row, name: str) -> str:
    places = row.places.get(name, {})
    return ", ".join(key if value == row.value else f"{key}: {_short(value)}" for key, value in places.items()) or "-"


def _short(value: Any) -> str:
    if value is None:
        return "unset"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"…{text[-_LONGEST + 1 :]}"


def _columns(texts: list[list[str]], width: int) -> list[str]:
    folded = [[piece for line in text for piece in _folded(click.unstyle(line), width)] for text in texts]
    return [_GAP.join(piece.ljust(width) for piece in pieces).rstrip() for pieces in zip_longest(*folded, fillvalue="")]


def _folded(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, width, subsequent_indent=indent, replace_whitespace=False) or [""]
