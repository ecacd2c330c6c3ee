"""Every command that a message, a docstring or a page tells somebody to type exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from orchestrator.cli import COMMANDS, cli

ROOT = Path(__file__).parents[2]
TOLD = re.compile(r"(?:`|\"|'|^ *|: |\()post-train ([a-z]+)(?: ([a-z]+)\b(?![./_-]))?", re.MULTILINE)
FILES = [
    *(p for room in ("orchestrator", "backends", "data_prep") for p in sorted((ROOT / room).rglob("*.py"))),
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


def told() -> Iterator[tuple[Path, str, str]]:
    for path in FILES:
        for command, sub in TOLD.findall(path.read_text(encoding="utf-8")):
            yield path, command, sub


def test_commands_are_told_of() -> None:
    assert len(list(told())) > 40


@pytest.mark.parametrize(("path", "command", "sub"), list(told()))
def test_a_command_that_is_told_of_exists(path: Path, command: str, sub: str) -> None:
    assert command in COMMANDS, path
    with click.Context(cli) as ctx:
        found = cli.get_command(ctx, command)
        if isinstance(found, click.Group) and sub:
            assert sub in found.list_commands(ctx), path
