"""DPO data: preference pairs that differ, and of which truncation leaves something."""

from __future__ import annotations

from typing import Any

from backends.trl.worker_data import Row
from backends.trl.worker_file import Arguments
from backends.trl.worker_mask_check import EMPTY_LIMIT
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError

_COLUMNS = ("prompt", "chosen", "rejected", "tools", "chat_template_kwargs")


def pairs(rows: list[Row], path: str) -> list[Row]:
    """The rows with the columns that the engine reads.

    Raises:
        WorkError: chosen and rejected are the same, or one is text and the other a conversation.
    """
    for number, row in enumerate(rows, start=1):
        if row["chosen"] == row["rejected"]:
            raise WorkError(
                "data.same",
                f"{path}, row {number}: chosen and rejected are the same",
                why="it prefers nothing",
                fix="remove it",
            )
        if len({isinstance(row[key], str) for key in ("prompt", "chosen", "rejected") if key in row}) != 1:
            raise WorkError(
                "data.mixed",
                f"{path}, row {number}: text and conversations are mixed",
                fix="make prompt, chosen and rejected all texts or all lists of messages",
            )
    return [{key: row[key] for key in _COLUMNS if row.get(key) is not None} for row in rows]


def judge_pairs(trainer: Any, given: int, arguments: Arguments, events: EventWriter) -> None:
    """Hold the tokenized pairs against `training.max_length`.

    Raises:
        WorkError: too many pairs lost to it, or none of the answers ends.
    """
    length, kept = arguments.config.get("max_length"), trainer.train_dataset
    lost, cut = given - len(kept), _cut(kept, length)
    if lost > EMPTY_LIMIT * given or not len(kept):
        raise WorkError(
            "mask.empty",
            f"{arguments.data['train']}: {lost} of {given} pairs have a prompt that fills training.max_length {length}",
            why="the engine drops them without a word",
            fix="raise training.max_length or shorten the prompts",
        )
    if lost or cut:
        message = f"of {given} pairs, {lost} are left out and {cut} are cut by training.max_length {length}"
        events.emit("warning", code="mask.truncated", message=message)


def _cut(dataset: Any, length: int | None) -> int:
    if length is None:
        return 0
    columns = zip(dataset["prompt_ids"], dataset["chosen_ids"], dataset["rejected_ids"], strict=True)
    return sum(len(prompt) + max(len(chosen), len(rejected)) > length for prompt, chosen, rejected in columns)
