"""post-train sft"""

from __future__ import annotations

from typing import Any

import click

from orchestrator.cli import options, stage


@click.command(short_help="Supervised fine-tuning.")
@options.training_options
def command(**given: Any) -> None:
    """Supervised fine-tuning on chat JSONL: LoRA (the default), QLoRA or full.

    \b
    post-train sft --method qlora --model org/model --data chat.jsonl
    post-train sft --recipe muse_glimmer/qlora --data chat.jsonl --smoke
    post-train sft --recipe muse_glimmer/qlora --data chat.jsonl
    post-train sft --resume latest
    """
    if given["resume"] is not None:
        return stage.resume(given["resume"], given)
    return stage.execute(stage.stage_recipe("sft", given), options.flags(given), stage.request(given))
