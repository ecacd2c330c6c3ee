"""Formats: every layout of rows that is known, how it is recognised, and what it becomes."""

from __future__ import annotations

from data_prep.faults import DataFault
from data_prep.formats.answers import GSM8K, MATH, PROMPT, QUESTION, VERL
from data_prep.formats.base import Format
from data_prep.formats.chat import BARE, MESSAGES, PRETRAIN, SHAREGPT, TEXT
from data_prep.formats.functions import BFCL, XLAM
from data_prep.formats.instruct import ALPACA, COMPLETION
from data_prep.formats.pictured import COSYN, DOCMATIX
from data_prep.formats.preference import KTO, PREFERENCE
from data_prep.readers.document import is_message
from data_prep.row import Row, kind

ORDER = (
    COSYN, DOCMATIX, PREFERENCE, KTO, VERL, BFCL, XLAM, PRETRAIN, SHAREGPT, MESSAGES,
    ALPACA, GSM8K, COMPLETION, MATH, QUESTION, PROMPT, TEXT,
)  # fmt: skip
"""The first that matches a row names it: those that want more stand before those that want less."""
BY_NAME = {each.name: each for each in ORDER}
_REFUSED = {
    "input_ids": ("rows of token ids, and not of text", "prepare the text that they were made from"),
    "ground_truth": ("answers without their questions", "name the file that holds the questions"),
}


def recognise(row: Row) -> Format | None:
    """The layout of a row, or None."""
    return next((each for each in ORDER if each.matches(row)), None)


def unknown(row: Row, where: str) -> DataFault:
    """What to say of a row that no format reads."""
    for column, (what, fix) in _REFUSED.items():
        if column in row:
            return DataFault(what, where=where, fix=fix)
    if is_message(row):
        fix = 'put them into one row: {"messages": [...]}'
        return DataFault("turns of a conversation where rows are expected", where=where, fix=fix)
    if row and all(isinstance(value, dict) for value in row.values()):
        what = "an object that holds only objects: a description of sets, or rows under names, and no row"
        return DataFault(what, where=where, fix="name the files of rows, or write the inner objects one a line")
    have = ", ".join(f"`{column}`" for column in list(row)[:12]) or "nothing"
    known = "; ".join(f"{each.name}: {each.reads}" for each in ORDER)
    return DataFault(
        f"no known format has these columns: {have}",
        where=where,
        why=f"the known ones are {known}",
        fix="say which column is which, for instance --columns prompt=question_text,completion=reply",
    )


def named(name: str) -> Format:
    """A format by its name.

    Raises:
        DataFault: there is none.
    """
    if name not in BY_NAME:
        raise DataFault(f"no format is called {name!r}", where="--format", fix=f"one of {', '.join(BY_NAME)}")
    return BY_NAME[name]


__all__ = ["BARE", "BY_NAME", "ORDER", "Format", "kind", "named", "recognise", "unknown"]
