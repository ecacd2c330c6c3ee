"""post-train plan"""

from __future__ import annotations

from typing import Any

import click

from orchestrator import addressing, engines, library, plan, progress
from orchestrator.cli import engineview, options, planview, stage
from orchestrator.errors import UsageError
from orchestrator.plan import RunPlan
from orchestrator.recipe import Recipe, Settings
from orchestrator.spec import TRAINING_STAGES

_BOTH = "both"


@click.command(short_help="Show a plan.")
@click.argument("recipe")
@click.option(
    "--backend",
    "engine",
    metavar="NAME",
    help="Plan the training stages that this engine has with it; `both`: with every engine that can, side by side.",
)
@options.RUNS
@options.ENV
@options.SETTING
@options.SMOKE
@options.JSON
@click.option("--reuse", is_flag=True, help="Plan as `run --reuse` would.")
def command(recipe: str, engine: str | None, **given: Any) -> None:
    """Show what RECIPE would run: native files, commands, expected artifacts, findings. Starts nothing.

    The native keys of a recipe are those of its own engine: planned with another one, they are left out, and named.

    \b
    post-train plan quickstart
    post-train plan my.yaml --backend both
    """
    found, settings = library.find(recipe), options.sets(given["sets"])
    wanted = stage.request({**given, "dry_run": True})
    if engine is None:
        return stage.execute(found, settings, wanted)
    _refuse_second(settings, engine)
    shown = progress.make(wanted.as_json)
    if engine == _BOTH:
        stages = _each(found, settings, wanted, shown)
        engineview.show(stages, wanted.as_json)
        raise click.exceptions.Exit(_code([one for plans in stages for one in plans]))
    engines.refuse_idle(found, engine)
    plans = stage.planner_of(wanted, shown, engine).recipe(found, settings)
    planview.show(plans, wanted.as_json)
    raise click.exceptions.Exit(_code(plans))


def _refuse_second(settings: Settings, engine: str) -> None:
    """Refuse a second word on the engine, and native keys where several engines would get them."""
    for key, value in settings.items():
        if key == "backend" or key.endswith(".backend"):
            raise UsageError(f"`{key}` and --backend {engine} both name an engine", where=value.origin)
        if engine == _BOTH and "native" in key.split("."):
            raise UsageError(
                f"native keys are of one engine, and --backend {engine} plans with several", where=value.origin
            )


def _each(recipe: Recipe, settings: Settings, wanted: stage.Request, shown: progress.Progress) -> list[list[RunPlan]]:
    """Every training stage, planned with every engine that can do it."""
    given = [addressing.flags_of(recipe, index, settings) for index in range(len(recipe.stages))]
    trains = [index for index, one in enumerate(recipe.stages) if one["stage"].value in TRAINING_STAGES]
    able = [engines.able(recipe, index, given[index]) for index in trains]
    names = sorted({name for one in able for name in one})
    if not all(able):
        raise UsageError("no engine can do every training stage of the recipe", where="--backend")
    if not names:
        raise UsageError("the recipe trains nothing, so there are no engines to compare", where="--backend")
    planned = {name: stage.planner_of(wanted, shown, name).recipe(recipe, settings) for name in names}
    training = {name: [one for one in plans if one.spec.trains] for name, plans in planned.items()}
    return [[training[name][number] for name in one] for number, one in enumerate(able)]


def _code(plans: list[RunPlan]) -> int:
    refusal = plan.refusal_of(plans)
    return refusal.exit_code if refusal else 0
