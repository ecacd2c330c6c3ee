"""GRPO data: prompts that leave room for an answer, and the columns that rewards read."""

from __future__ import annotations

from typing import Any

from backends.trl.worker_data import Row
from backends.trl.worker_file import Arguments
from backends.trl.worker_mask_check import EMPTY_LIMIT
from backends.trl.worker_template import Template, options_of
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError


def prompts(rows: list[Row], tokenizer: Any, arguments: Arguments, path: str, events: EventWriter) -> list[Row]:
    """The rows whose prompt fits; the engine itself would generate past the limit.

    Raises:
        WorkError: a conversation without a template, or too many prompts that don't fit.
    """
    longest, template = int(arguments.data["max_prompt_length"]), Template(tokenizer)
    if not template.known and not isinstance(rows[0]["prompt"], str):
        raise WorkError(
            "template.missing",
            f"{path}: prompts are conversations, but the tokenizer has no chat template",
            fix="give text prompts",
        )
    kept = [row for row in rows if len(_ids(row, tokenizer, template)) <= longest]
    lost = len(rows) - len(kept)
    if lost > EMPTY_LIMIT * len(rows):
        raise WorkError(
            "data.long_prompts",
            f"{path}: {lost} of {len(rows)} prompts are longer than {longest} tokens, training.max_length less "
            "rl.max_completion_length",
            fix="raise training.max_length",
        )
    if lost:
        message = f"{path}: {lost} of {len(rows)} prompts are longer than {longest} tokens and are left out"
        events.emit("warning", code="data.long_prompts", message=message)
    return kept


def _ids(row: Row, tokenizer: Any, template: Template) -> list[int]:
    prompt = row["prompt"]
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    return template.prompt_ids(prompt, options_of(row), None)
