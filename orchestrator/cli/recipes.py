"""post-train recipes"""

from __future__ import annotations

import json

import click

from orchestrator import addressing, library, schema, smoke
from orchestrator.cli import importing, options, planview
from orchestrator.recipe import Recipe, Settings
from orchestrator.resolve import Resolved, resolve


@click.group(invoke_without_command=True, short_help="List, show and check recipes.")
@options.JSON
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Recipes: without a subcommand, list the shipped ones."""
    if ctx.invoked_subcommand is None:
        _list(as_json)


command.add_command(importing.command)


@command.command("list")
@options.JSON
def list_(as_json: bool) -> None:
    """List the shipped recipes."""
    _list(as_json)


def _list(as_json: bool) -> None:
    found = {name: library.find(name) for name in library.names()}
    if as_json:
        rows = [
            {"name": n, "path": str(r.path), "description": r.description, "stages": _stages(r)}
            for n, r in found.items()
        ]
        return click.echo(json.dumps(rows, indent=2))
    width = max(len(name) for name in found)
    for name, recipe in found.items():
        click.echo(f"{name:<{width}}  {' -> '.join(_stages(recipe)):<28}  {recipe.description}")
    return None


def _stages(recipe: Recipe) -> list[str]:
    return [str(settings["stage"].value) for settings in recipe.stages]


@command.command()
@click.argument("recipe")
@click.option("--resolved", is_flag=True, help="Every value, with where it came from.")
@options.SETTING
@click.option("--smoke", "small", is_flag=True, help="As `--smoke` would run it.")
@options.JSON
def show(recipe: str, resolved: bool, sets: tuple[str, ...], small: bool, as_json: bool) -> None:
    """Show RECIPE as written, or with every value filled in."""
    found = library.find(recipe)
    if (sets or small) and not (resolved or as_json):
        flag = "--set" if sets else "--smoke"
        raise click.UsageError(f"{flag} changes nothing in a recipe as written; add --resolved")
    if not resolved and not as_json:
        assert found.path is not None
        return click.echo(found.path.read_text(encoding="utf-8"), nl=False)
    stages = [_filled(found, n, options.sets(sets), small) for n in range(len(found.stages))]
    if as_json:
        dumps = [{"spec": s.spec.model_dump(mode="json", by_alias=True), "origins": s.origins} for s in stages]
        return click.echo(json.dumps(dumps, indent=2))
    return click.echo("\n\n".join(planview.resolved(s.spec, s.origins) for s in stages))


def _filled(recipe: Recipe, index: int, flags: Settings, small: bool) -> Resolved:
    given = addressing.flags_of(recipe, index, flags)
    found = resolve(recipe, index, given)
    return smoke.bounded(found, given) if small else found


@command.command("schema")
def schema_() -> None:
    """Print the JSON Schema of recipes, for editors."""
    click.echo(json.dumps(schema.recipe_schema(), indent=2))


@command.command()
@click.argument("recipes", metavar="RECIPE...", nargs=-1, required=True)
def check(recipes: tuple[str, ...]) -> None:
    """Check recipes: names, values, combinations of settings. Reads no data and starts nothing."""
    for name in recipes:
        found = library.find(name)
        for index in range(len(found.stages)):
            resolve(found, index, {})
        click.echo(f"{name}: {len(found.stages)} stages, no problem")
