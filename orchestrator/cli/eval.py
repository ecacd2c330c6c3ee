"""post-train eval"""

from __future__ import annotations

from typing import Any

import click

from orchestrator.cli import options, stage
from orchestrator.recipe import Value


@click.command(short_help="Compare models.")
@click.argument("runs_named", metavar="[RUN]...", nargs=-1)
@click.option("--data", help="Held-out items, JSONL with prompt and answer.")
@click.option("--metric", help="exact, contains, choice, regex, regex:PATTERN, math, or reward:file.py:function.")
@click.option(
    "--task", metavar="NAME|FILE.py", help="Task to play, instead of items: its validation samples, its rewards."
)
@options.TASK_OPTION
@click.option(
    "--benchmarks", metavar="TASK,...", help="Run these by lm-eval instead: its tasks, or task files (.yaml)."
)
@click.option("--against", metavar="MODEL,...", help="Compare with these only: base, sft, ... of the chain, or runs.")
@click.option("--gate", "gates", multiple=True, help="What must hold, e.g. accuracy>=sft-0.01; else exit code 10.")
@click.option(
    "--generation", type=click.Choice(["auto", "transformers", "vllm"]), help="Engine that generates the answers."
)
@options.stage_options
def command(
    runs_named: tuple[str, ...],
    data: str | None,
    benchmarks: str | None,
    against: str | None,
    gates: tuple[str, ...],
    **given: Any,
) -> None:
    """Compare base, SFT and RL model of the chains that RUN... end, on the same held-out items, or playing a task.

    \b
    post-train eval latest --data held_out.jsonl --metric exact
    post-train eval my-grpo --task my_task.py --against base,sft
    post-train eval latest --benchmarks my_sums.yaml,hellaswag
    post-train eval latest --against base,sft --data held_out.jsonl --metric math --gate "accuracy>=sft-0.01"
    """
    given["parents"] = given["parents"] or runs_named
    settings = options.flags(given)
    if data:
        settings["data.eval"] = Value(data, "--data")
    if benchmarks:
        settings["eval.benchmarks"] = Value([name.strip() for name in benchmarks.split(",")], "--benchmarks")
    if against:
        settings["eval.against"] = Value([name.strip() for name in against.split(",")], "--against")
    if gates:
        settings["eval.gates"] = Value(list(gates), "--gate")
    return stage.execute(stage.stage_recipe("eval", given), settings, stage.request(given))
