"""What prepared rows are for, and the row that each use reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from data_prep.faults import DataFault
from data_prep.formats.base import Form, assistant
from data_prep.row import Row, RowFault

Use = Literal["sft", "dpo", "grpo", "kto", "eval"]
Shape = Callable[[Row], Row]


def _same(row: Row) -> Row:
    return row


def _asked(row: Row) -> Row:
    """The last answer is what a checker expects, and what stands before it is the prompt."""
    *prompt, last = row["messages"]
    if not prompt or last.get("tool_calls") or not isinstance(last["content"], str):
        raise RowFault("no_final", "the last turn is no text that an answer could be compared with")
    rest = {key: value for key, value in row.items() if key != "messages"}
    return {"prompt": prompt, "answer": last["content"], **rest}


def _preferred(row: Row) -> Row:
    """The better answer, learned by example."""
    rest = {key: value for key, value in row.items() if key not in ("prompt", "chosen", "rejected")}
    return {"messages": [*row["prompt"], *row["chosen"]], **rest}


def _worked(row: Row) -> Row:
    """The worked solution, where there is one, else the answer."""
    rest = {key: value for key, value in row.items() if key not in ("prompt", "answer", "solution")}
    return {"messages": [*row["prompt"], assistant(row.get("solution") or row["answer"])], **rest}


def _checked(row: Row) -> Row:
    return {key: value for key, value in row.items() if key != "solution"}


SHAPES: dict[Form, dict[Use, Shape]] = {
    "messages": {"sft": _same, "grpo": _asked, "eval": _asked},
    "chosen+rejected": {"dpo": _same, "sft": _preferred},
    "completion+label": {"kto": _same},
    "prompt+answer": {"grpo": _checked, "eval": _checked, "sft": _worked},
    "prompt": {"grpo": _same},
    "text": {"sft": _same},
}
_UNDECIDED = ("question_answer",)
"""Formats whose answers may be there to be learned, or to be checked."""


def use_of(form: Form, name: str, wanted: str | None, where: str) -> Use:
    """What rows of a format are for: as asked, or the first that their form serves.

    Raises:
        DataFault: they don't serve what was asked, or nothing tells which of two was meant.
    """
    shapes = SHAPES[form]
    if wanted is None and name in _UNDECIDED:
        raise DataFault(
            "these answers can be learned (sft), or be checked against what the model answers (grpo, eval)",
            where=where,
            fix="say which: --use sft, --use grpo or --use eval",
        )
    found = next((use for use in shapes if use == wanted), None) if wanted else next(iter(shapes))
    if found is None:
        raise DataFault(
            f"rows of the format {name} serve {', '.join(shapes)}, not {wanted}", where=where, fix="name another --use"
        )
    return found


def columns_of(form: Form, use: Use) -> str:
    """The columns that tell what prepared rows are, as `prompt+answer`."""
    by_use = {"dpo": "chosen+rejected", "kto": "completion+label", "eval": "prompt+answer"}
    if use == "sft":
        return "text" if form == "text" else "messages"
    return by_use.get(use) or ("prompt" if form == "prompt" else "prompt+answer")
