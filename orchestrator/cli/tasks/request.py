"""What `try` and `check` are asked: a task, its options, how many samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

OPTION = click.option("--task-option", "options", multiple=True, metavar="NAME=VALUE", help="Option of the task.")


def pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """`NAME=VALUE` texts as options of a task.

    Raises:
        click.UsageError: one without `=`.
    """
    for text in texts:
        if not text.partition("=")[1] or text.startswith("="):
            raise click.UsageError(f"--task-option wants NAME=VALUE, not {text!r}")
    return {name: value for name, _, value in (text.partition("=") for text in texts)}
