"""post-train rl"""

from __future__ import annotations

from typing import Any

import click

from orchestrator.cli import options, stage
from orchestrator.recipe import Value


@click.command(short_help="DPO or GRPO.")
@click.option(
    "--algorithm", type=click.Choice(["grpo", "dpo"]), default="grpo", show_default=True, help="What is optimised."
)
@click.option(
    "--reward", "rewards", multiple=True, metavar="FILE.py:FUNCTION", help="Reward function (grpo); may be repeated."
)
@click.option("--task", metavar="NAME|FILE.py", help="Task to learn (grpo), instead of prompts and rewards.")
@options.TASK_OPTION
@options.training_options
def command(**given: Any) -> None:
    """Reinforcement learning with a programmatic reward (GRPO), or preference optimisation (DPO).

    Starts from a run with --from; an adapter is merged first, so that the KL penalty is measured against that model.

    \b
    post-train rl --from my-sft --data prompts.jsonl --reward reward.py:score
    post-train rl --from my-sft --task my_task.py
    post-train rl --algorithm dpo --from my-sft --data pairs.jsonl
    """
    if given["resume"] is not None:
        return stage.resume(given["resume"], {k: v for k, v in given.items() if k != "algorithm"})
    settings = options.flags(given)
    if given["rewards"]:
        settings["rl.reward"] = Value(list(given["rewards"]), "--reward")
    return stage.execute(stage.stage_recipe(given["algorithm"], given), settings, stage.request(given))
