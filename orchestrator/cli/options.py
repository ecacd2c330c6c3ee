"""Flags that several commands share, and their translation into settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from orchestrator.recipe import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

RUNS = click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    envvar="POST_TRAIN_RUNS",
    show_default=True,
    help="Folder that holds all runs.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout, nothing else.")
ENV = click.option("--env", help="Use this environment (folder or python) for the backend, or `current`.")
SETTING = click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Any setting, e.g. training.epochs=2.")
SMOKE = click.option(
    "--smoke", is_flag=True, help="A bounded trial: two optimizer steps, no validation, a checkpoint at step 2."
)
PROOF = click.option(
    "--no-proof", is_flag=True, help="Neither measure nor compare models at hand-offs; recorded, and shown ever after."
)
TASK_OPTION = click.option(
    "--task-option", "task_options", multiple=True, metavar="NAME=VALUE", help="Option of the task."
)
DRY = click.option("--dry-run", is_flag=True, help="Show what would run; start nothing.")

_STAGE = (
    click.option("--recipe", "recipe_path", help="Recipe to start from; flags win over it."),
    click.option("--name", help="Name of the run."),
    click.option("--backend", help="Engine; see `post-train backends`."),
    click.option("--model", help="Folder or hub name."),
    click.option("--from", "parents", multiple=True, metavar="RUN", help="Start from what this run made."),
    click.option("--output", type=click.Path(path_type=Path), help="Folder of this run; must not exist."),
    RUNS,
    ENV,
    SETTING,
    PROOF,
    DRY,
    JSON,
)
_TRAIN = (
    click.option("--method", help="lora, qlora or full."),
    click.option("--data", help="Training rows, JSONL."),
    click.option("--eval-data", help="Held-out rows, JSONL."),
    click.option("--seed", type=int, help="Seed of everything random."),
    click.option("--max-steps", type=int, help="Optimizer steps."),
    click.option("--learning-rate", type=float, help="Peak learning rate."),
    click.option("--epochs", type=float, help="Passes over the data."),
    click.option("--processes", type=int, help="Ranks on this machine."),
    click.option("--sharding", help="none, ddp or fsdp2."),
    SMOKE,
    click.option("--resume", metavar="RUN", help="Go on with a stopped run; takes no other setting."),
)
_SETTINGS = {
    "name": "name",
    "backend": "backend",
    "model": "model.path",
    "method": "method",
    "data": "data.train",
    "task": "task.name",
    "eval_data": "data.eval",
    "seed": "training.seed",
    "max_steps": "training.max_steps",
    "learning_rate": "training.learning_rate",
    "epochs": "training.epochs",
    "processes": "hardware.processes",
    "sharding": "hardware.sharding",
    "metric": "eval.metric",
    "generation": "eval.generation",
    "dtype": "merge.dtype",
}


def stage_options(command: Command) -> Command:
    """Flags of every command that runs a stage."""
    return _apply(command, _STAGE)


def training_options(command: Command) -> Command:
    """Flags of sft and rl."""
    return _apply(command, (*_TRAIN, *_STAGE))


def _apply(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def flags(given: dict[str, Any]) -> Settings:
    """The settings behind flags that were given; `--set` wins over the named flags.

    Raises:
        click.UsageError: a `--set` without `=`.
    """
    from orchestrator.recipe import Value

    named = {
        _SETTINGS[k]: Value(v, f"--{k.replace('_', '-')}") for k, v in given.items() if k in _SETTINGS and v is not None
    }
    if given.get("no_proof"):
        named["proof"] = Value(False, "--no-proof")
    if given.get("parents"):
        named["from"] = Value(list(given["parents"]), "--from")
    options = tuple(f"task.options.{text}" for text in given.get("task_options", ()))
    return named | sets(options) | sets(given.get("sets", ()))


def sets(texts: tuple[str, ...]) -> Settings:
    """`KEY=VALUE` texts as settings, values read as YAML."""
    from orchestrator.recipe import Value
    from orchestrator.yamlfile import scalar

    settings: Settings = {}
    for text in texts:
        key, mark, value = text.partition("=")
        if not mark or not key:
            raise click.UsageError(f"--set wants KEY=VALUE, not {text!r}")
        settings[key] = Value(scalar(value), f"--set {key}")
    return settings
