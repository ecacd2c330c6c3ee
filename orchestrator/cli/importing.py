"""post-train recipes import"""

from __future__ import annotations

import json
from pathlib import Path

import click

from orchestrator import atomic, foreign
from orchestrator.cli import options
from orchestrator.errors import OutputExists
from orchestrator.foreign import Converted


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help="Recipe to write; must not exist.")
@click.option("--name", help="Name of the run.")
@click.option("--processes", type=click.IntRange(min=1), help="Ranks; a configuration doesn't say.")
@options.JSON
def command(file: Path, output: Path | None, name: str | None, processes: int | None, as_json: bool) -> None:
    """Turn FILE, an Axolotl configuration, into a recipe.

    Every key is mapped to a setting, passed on below `native:`, or named as left out, with its line and the reason.
    """
    if output and output.exists():
        raise OutputExists("there is a file of that name already", where=str(output), fix="choose another --output")
    converted = foreign.convert(file, output.parent if output else Path.cwd(), name, processes)
    if output:
        atomic.write_text(output, converted.text)
    if as_json:
        return click.echo(json.dumps(_facts(file, output, converted), indent=2))
    if not output:
        click.echo(converted.text, nl=False)
    return click.echo("\n".join(_report(file, output, converted)), err=True)


def _report(file: Path, output: Path | None, converted: Converted) -> list[str]:
    imported = converted.imported
    counts = f"{converted.mapped} settings, {converted.native} keys of the engine's own below native"
    keys = "key" if imported.nulls == 1 else "keys"
    empty = f"; {imported.nulls} {keys} without a value" if imported.nulls else ""
    left = [f"left out: {file}:{one.line}: {one.key}: {one.reason}" for one in imported.left_out]
    told = [f"note: {note}" for note in imported.notes]
    next_step = [f"next: post-train plan {output}"] if output else []
    return [f"{file}: {counts}{empty}", *left, *told, *next_step]


def _facts(file: Path, output: Path | None, converted: Converted) -> dict[str, object]:
    imported = converted.imported
    return {
        "source": str(file),
        "output": str(output) if output else None,
        "recipe": converted.text,
        "left_out": [one.model_dump() for one in imported.left_out],
        "nulls": imported.nulls,
        "notes": list(imported.notes),
    }
