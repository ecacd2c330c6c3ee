"""A command group that knows its commands' names and help, and imports only the one that is called."""

from __future__ import annotations

import importlib
import keyword
from typing import Any, cast

import click


class LazyGroup(click.Group):
    """Commands are modules of one package, each with a `command`.

    Args:
        package: where the modules are.
        commands: name -> line of help. A name that is a keyword has its module under `name_`.
    """

    def __init__(self, *args: Any, package: str, commands: dict[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self._package, self._listed = package, commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._listed:
            return None
        module = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        return cast(click.Command, importlib.import_module(f"{self._package}.{module}").command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._listed.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self._listed and not args[0].startswith("-"):
            from orchestrator.nearest import nearest

            raise click.UsageError(f"no command is called {args[0]!r}{nearest(args[0], self._listed)}")
        return super().resolve_command(ctx, args)
