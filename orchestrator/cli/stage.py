"""What sft, rl, merge, eval, run and plan share: make plans, show or execute them, print what came out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from orchestrator import library, plan, progress, proof
from orchestrator.cli import planview, runview
from orchestrator.errors import GateFailed, RunInterrupted, UsageError
from orchestrator.plan import RunPlan
from orchestrator.planner import Planner
from orchestrator.recipe import Recipe, Settings, Value
from orchestrator.report import page
from orchestrator.runner import Runner
from orchestrator.store import Run, Store, store_at


@dataclass(frozen=True)
class Request:
    """What to do with a recipe."""

    runs: Path
    env: str | None = None
    output: Path | None = None
    reuse: bool = False
    dry_run: bool = False
    as_json: bool = False
    smoke: bool = False


def request(given: dict[str, Any]) -> Request:
    """The request behind a command's flags.

    Raises:
        UsageError: an empty `--env`, as an unset shell variable leaves it.
    """
    if given.get("env") is not None and not given["env"].strip():
        raise UsageError("it is empty", where="--env", fix="name a folder or a Python, or leave it out")
    known = {k: given[k] for k in ("env", "output", "reuse", "dry_run", "as_json", "smoke") if k in given}
    return Request(given["runs"].expanduser().absolute(), **known)


def stage_recipe(stage: str, given: dict[str, Any]) -> Recipe:
    """The recipe behind a stage command: the named file, or an empty one.

    Raises:
        UsageError: the named recipe has no such stage, or several.
    """
    if not given.get("recipe_path"):
        return Recipe(_name(given), "", None, ({"stage": Value(stage, "command")},))
    recipe = library.find(given["recipe_path"])
    matching = [settings for settings in recipe.stages if settings["stage"].value == stage]
    if len(matching) != 1:
        what = f"{len(matching)} stages {stage}" if matching else f"no stage {stage}"
        raise UsageError(f"the recipe has {what}", where=str(recipe.path), fix=f"post-train run {given['recipe_path']}")
    return Recipe(recipe.name, recipe.description, recipe.path, (matching[0],), recipe.defaults)


def _name(given: dict[str, Any]) -> str:
    """A run is named after its recipe; without one, after the run or model it starts from."""
    if given.get("parents"):
        return store_at(given["runs"]).find(given["parents"][0]).manifest.spec.name
    words = Path(given.get("model") or "").name
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in words).strip("-._") or "run"


def execute(recipe: Recipe, settings: Settings, wanted: Request) -> None:
    """Plan a recipe, then show it or run it."""
    shown = progress.make(wanted.as_json)
    planner = planner_of(wanted, shown)
    plans = planner.recipe(recipe, settings)
    if wanted.dry_run:
        planview.show(plans, wanted.as_json)
        refusal = plan.refusal_of(plans)
        raise click.exceptions.Exit(refusal.exit_code if refusal else 0)
    plan.refuse(plans)
    runner = Runner(planner.store, shown, shown.say)
    finished = [_one(runner, planner.store, each) for each in plans]
    return report(finished, planner.store, wanted.as_json)


def planner_of(wanted: Request, shown: progress.Progress, engine: str | None = None) -> Planner:
    """A planner that plans what is wanted."""
    return Planner(
        Store(wanted.runs), wanted.env, wanted.output, wanted.reuse, wanted.smoke, engine=engine, say=shown.say
    )


def _one(runner: Runner, store: Store, each: RunPlan) -> Run:
    if runner.asked_to_stop:
        fix = "call it again; `post-train run` goes on from here with --reuse"
        raise RunInterrupted(f"stopped before {each.spec.stage}; the stages before it are finished", fix=fix)
    if each.reuses:
        runner.say(f"{each.spec.stage} {each.reuses}: reused, its inputs are unchanged")
        return store.find(str(each.run_dir))
    if each.resumes:
        runner.say(f"{each.spec.stage} {each.resumes}: going on from its newest checkpoint")
        return _proved(runner.resume(store.find(str(each.run_dir))))
    for finding in each.findings:
        if finding.level == "advice" and not finding.accepted:
            runner.say(f"advice [{finding.code}] {finding.where or each.spec.stage}: {finding.message}")
    return _proved(runner.start(each))


def _proved(run: Run) -> Run:
    """The same run; a smoke run that came to its end and proves nothing is a failure all the same."""
    if proof.is_smoke(run):
        proof.require(run)
    return run


def resume(reference: str, given: dict[str, Any]) -> None:
    """Go on with a stopped run.

    Raises:
        UsageError: other settings were given: a resumed run is the run it was.
    """
    unset: tuple[Any, ...] = (None, (), False)
    others = [
        k for k, v in given.items() if not any(v is one for one in unset) and k not in ("runs", "as_json", "resume")
    ]
    if others:
        raise UsageError(
            f"--resume takes no other setting, but {', '.join(sorted(others))} was given", fix="start a new run instead"
        )
    shown = progress.make(given["as_json"])
    store = store_at(given["runs"])
    report([_proved(Runner(store, shown, shown.say).resume(store.find(reference)))], store, given["as_json"])


def report(finished: list[Run], store: Store, as_json: bool) -> None:
    """Print what finished runs made; the last one's page tells the story of the whole chain."""
    written = page.write(finished[-1], store)
    if as_json:
        click.echo(json.dumps([runview.as_dict(run) for run in finished], indent=2))
    else:
        for run in finished:
            click.echo(runview.made(run))
        click.echo(f"\nreport: {written}")
    _hold_to_gates(finished, as_json)


def _hold_to_gates(finished: list[Run], as_json: bool) -> None:
    """Nothing when every gate of every eval was passed.

    Raises:
        GateFailed: one was not. JSON has them all already, so there only the exit code says so.
    """
    found = [(run.id, one) for run in finished for one in runview.gates(run)]
    failed = [f"{run}: {one.gate}, but {one.score:.4g} against {one.limit:.4g}" for run, one in found if not one.passed]
    if failed and as_json:
        raise click.exceptions.Exit(GateFailed.exit_code)
    if failed:
        raise GateFailed(f"{len(failed)} of {len(found)} gates failed", details=failed)
