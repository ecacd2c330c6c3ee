"""post-train doctor"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from orchestrator.cli.options import JSON, RUNS


@click.command(short_help="Examine this machine and this installation.")
@RUNS
@JSON
def command(runs: Path, as_json: bool) -> None:
    """Examine this machine and this installation. Exit code 0 when post-train can be used here."""
    from orchestrator.environments import health

    checks = health.checks(runs.expanduser().absolute())
    worst = next((check.exit_code for check in checks if check.exit_code), 0)
    if as_json:
        click.echo(json.dumps({"usable": not worst, "checks": [c.model_dump(mode="json") for c in checks]}, indent=2))
    else:
        for check in checks:
            click.echo(f"{check.mark:<5} {check.name:<12} {check.text}")
            if check.fix:
                click.echo(f"{'':<18} fix: {check.fix}")
    sys.exit(worst)
