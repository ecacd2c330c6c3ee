"""The command line. Each command is a module that is imported only when it is called, so that --help stays fast."""

from __future__ import annotations

import json
import os
import sys

import click

from orchestrator import __version__
from orchestrator.cli.lazy import LazyGroup

COMMANDS = {
    "sft": "Supervised fine-tuning: LoRA, QLoRA or full.",
    "rl": "Preference optimisation (DPO) or reinforcement learning (GRPO).",
    "merge": "Merge a run's adapter into its base model.",
    "eval": "Compare the models of a chain on held-out items.",
    "run": "Run a recipe: one stage or a whole pipeline; or resume a run.",
    "tasks": "List, try and check RL tasks, without a model.",
    "data": "Prepare, check, split and show training data.",
    "plan": "Show what a recipe would run; start nothing.",
    "verify": "Measure a run's model again and compare it with the manifest.",
    "reproduce": "Run a finished stage again and compare what comes out.",
    "runs": "List, show, compare and remove runs.",
    "recipes": "List, show and check recipes; print their JSON Schema.",
    "backends": "List, install and examine engines and their environments.",
    "doctor": "Examine this machine and this installation.",
}


@click.group(
    cls=LazyGroup,
    package="orchestrator.cli",
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="post-train")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks; also POST_TRAIN_DEBUG=1.")
def cli() -> None:
    """One front door to SFT, preference optimisation, RL, merge and evaluation."""


def main() -> None:
    """Run the command line; turn every error into a message and an exit code."""
    try:
        if code := cli(prog_name="post-train", standalone_mode=False):
            sys.exit(code)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        _as_json("UsageError", error.exit_code, error.format_message())
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except Exception as error:  # noqa: BLE001  (the last stop: nothing prints a traceback unless asked to)
        sys.exit(_explain(error))


def _explain(error: Exception) -> int:
    from orchestrator.errors import PostTrainError, StorageError

    if "--debug" in sys.argv or os.environ.get("POST_TRAIN_DEBUG"):
        import traceback

        traceback.print_exc()
    if isinstance(error, OSError):
        error = StorageError(f"{error.strerror or error}", where=error.filename)
    known = isinstance(error, PostTrainError)
    lines = error.lines() if isinstance(error, PostTrainError) else _bug(error)
    code = error.exit_code if isinstance(error, PostTrainError) else 70
    _as_json(type(error).__name__, code, "\n".join(lines))
    click.echo(("error: " if known else "internal error: ") + "\n".join(lines), err=True)
    return code


def _as_json(kind: str, code: int, message: str) -> None:
    if "--json" in sys.argv:
        click.echo(json.dumps({"error": {"kind": kind, "exit_code": code, "message": message}}))


def _bug(error: Exception) -> list[str]:
    return [
        f"{type(error).__name__}: {error}",
        "fix: this is a fault of post-train; run again with `post-train --debug` and report it",
    ]
