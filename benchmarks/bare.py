"""A bare click program with as many commands as post-train has: what --help costs at least."""

from __future__ import annotations

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option("0", prog_name="bare")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
def cli(debug: bool) -> None:
    """One front door."""


for _name in ("sft", "rl", "merge", "eval", "run", "plan", "runs", "recipes", "backends", "doctor"):
    cli.add_command(click.Command(_name, help=f"What {_name} does."))

if __name__ == "__main__":
    cli()
