"""Help is light, and says the same in the list and in the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from orchestrator.cli import COMMANDS, cli

ROOT = Path(__file__).parents[2]
HEAVY = {"torch", "transformers", "trl", "peft", "datasets", "accelerate", "numpy", "vllm", "huggingface_hub"}
PROGRAM = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from orchestrator.cli import main
try:
    main()
except SystemExit as end:
    code = end.code or 0
else:
    code = 0
print("MODULES", code, *sys.modules)
"""


def help_of(*words: str) -> tuple[str, set[str]]:
    argv = [sys.executable, "-P", "-c", PROGRAM, *words, "--help"]
    text, _, modules = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.partition("MODULES ")
    code, *names = modules.split()
    assert code == "0"
    assert text.startswith("Usage:")
    return text, {name.partition(".")[0] for name in names}


def test_help_imports_nothing_but_click() -> None:
    text, modules = help_of()
    assert not modules & (HEAVY | {"pydantic", "yaml", "rich", "psutil", "sqlite3"})
    assert all(name in text for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_imports_no_framework(name: str) -> None:
    _, modules = help_of(name)
    assert not modules & HEAVY


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_and_the_command_say_the_same(name: str) -> None:
    with click.Context(cli) as ctx:
        command = cli.get_command(ctx, name)
    assert command is not None
    short, full = COMMANDS[name].lower(), (command.short_help or "").lower().rstrip(".")
    assert command.help
    assert full
    words = {w.strip(",.:;()") for w in f"{full} {command.help.lower()}".split()}
    told = {w.strip(",.:;()") for w in short.split()}
    assert len(told & words) >= len(told) / 2, f"{short!r} says something else than the command"
