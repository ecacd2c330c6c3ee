"""SFT data: tokenized, masked, truncated and checked before a step is taken."""

from __future__ import annotations

from typing import Any

from backends.trl.worker_data import Row, form
from backends.trl.worker_file import Arguments
from backends.trl.worker_mask import Masker, Tokens
from backends.trl.worker_mask_check import Census
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError

_CROSS_CHECKED = 16
"""Rows whose marker mask is held against the turns found by rendering."""


def sft_dataset(
    arguments: Arguments, tokenizer: Any, rows: list[Row], path: str, *, table: int, events: EventWriter
) -> Any:
    """Rows of one file as `input_ids` and `labels`; rows that lost their whole answer to truncation are left out.

    Args:
        path: where the rows come from, for messages.
        table: rows of the embedding table; a token id at or above it is refused.

    Raises:
        WorkError: a mask that would teach nothing, or the wrong turns.
    """
    loss_on = arguments.data["loss_on"]
    masker = Masker(tokenizer, loss_on)
    census = Census(
        loss_on, set(tokenizer.get_added_vocab().values()) | set(tokenizer.all_special_ids), _longest(arguments)
    )
    kept = []
    for number, row in enumerate(rows, start=1):
        tokens = masker.tokens(row, f"{path}, row {number}")
        if number <= _CROSS_CHECKED:
            masker.cross_check(row, tokens)
        kept.append(census.take(tokens))
    census.judge(path, events)
    _warn(rows, masker, loss_on, path, events)
    _refuse_outside(kept, table, path)
    return _table([tokens for tokens in kept if any(tokens.loss)])


def _longest(arguments: Arguments) -> int | None:
    """Tokens a row may have. Best-fit packing cuts longer rows too; the other strategies split them."""
    config = arguments.config
    splits = config.get("packing") and config.get("packing_strategy", "bfd") != "bfd"
    return None if splits else config.get("max_length")


def _warn(rows: list[Row], masker: Masker, loss_on: str, path: str, events: EventWriter) -> None:
    plain = sum(form(row) == ("text",) for row in rows)
    if plain and loss_on == "assistant":
        message = f"{path}: {plain} rows are plain text: they have no assistant turns, so all their tokens get loss"
        events.emit("warning", code="mask.text", message=message)
    if masker.dated_rows:
        message = (
            f"{path}: the chat template can write today's date into {masker.dated_rows} rows; the same run is another "
            'one tomorrow, resumed or repeated: give rows chat_template_kwargs: {"current_date": "2026-01-31"}'
        )
        events.emit("warning", code="template.date", message=message)
    if masker.twin_rows:
        message = (
            f"{path}: {masker.twin_rows} rows are rendered with TRL's training edition of the chat template, because "
            "the model's own rewrites earlier turns once later ones follow; give one row per assistant turn to train "
            "on exactly what inference shows"
        )
        events.emit("warning", code="template.twin", message=message)


def _refuse_outside(rows: list[Tokens], table: int, path: str) -> None:
    highest = max(max(tokens.ids, default=0) for tokens in rows)
    if highest >= table:
        raise WorkError(
            "tokenizer.outside",
            f"{path}: token id {highest} occurs, but the embedding table has {table} rows",
            fix="use the tokenizer that belongs to the model, or resize the embeddings first",
        )


def _table(rows: list[Tokens]) -> Any:
    import numpy as np
    from datasets import Dataset

    ids = [np.array(tokens.ids, dtype=np.int32) for tokens in rows]
    labels = [np.where(tokens.loss, tokens.ids, -100).astype(np.int32) for tokens in rows]
    return Dataset.from_dict({"input_ids": ids, "labels": labels})
