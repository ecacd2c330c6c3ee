"""One question, one answer: Alpaca, prompt and completion."""

from __future__ import annotations

from typing import Any

from data_prep.formats.base import (
    Format,
    Work,
    all_placed,
    assistant,
    conversation,
    first,
    reply,
    user,
    with_system,
    with_tools,
)
from data_prep.row import Message, Row, RowFault, text_of

_NO_INPUT = ("<noinput>", "<no input>", "noinput")
_PAIRS = (
    ("prompt", "completion"),
    ("prompt", "response"),
    ("query", "response"),
    ("question", "response"),
    ("input", "output"),
    ("user", "assistant"),
)
_ANSWERS = ("output", "response", "completion")


def _is_alpaca(row: Row) -> bool:
    return "instruction" in row and any(column in row for column in _ANSWERS)


def _alpaca(row: Row, work: Work) -> Row:
    question, more = work.text(row, "instruction"), work.optional(row, "input")
    if more.strip().lower() in _NO_INPUT:
        work.marks.append(("no_input", f"the input {more.strip()!r} says that there is none, and was taken out"))
        more = ""
    asked = f"{question}\n\n{more}" if more.strip() else question
    found = [*_history(row), user(asked), assistant(work.text(row, first(row, _ANSWERS)))]
    return with_tools({"messages": with_system(found, row, work)}, row, work)


def _history(row: Row) -> list[Message]:
    """Earlier questions and answers, as pairs."""
    found: list[Message] = []
    for pair in row.get("history") or []:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise RowFault("not_turns", "`history` must be pairs of a question and its answer")
        found += [user(pair[0]), assistant(pair[1])]
    return found


def pair(row: Row) -> tuple[str, str] | None:
    """The columns of the question and the answer."""
    return next((names for names in _PAIRS if all(name in row for name in names)), None)


def _completion(row: Row, work: Work) -> Row:
    asked, answer = pair(row) or _PAIRS[0]
    media = work.media(row)
    found = conversation(row.get(asked), asked, media)
    found = with_system([*found, *reply(_written(row.get(answer), answer, work), answer, work)], row, work)
    all_placed(found, media, work)
    if found[-1]["role"] != "assistant":
        raise RowFault("no_answer", f"`{answer}` does not end on a turn of the assistant")
    return with_tools({"messages": found}, row, work)


ALPACA = Format("alpaca", "messages", "`instruction`, `input` and `output`", _is_alpaca, _alpaca)


def _written(value: Any, name: str, work: Work) -> Any:
    """A number as text; all else as it is."""
    return value if isinstance(value, list | dict) else text_of(value, f"`{name}`", work.marks)


COMPLETION = Format(
    "prompt_completion", "messages", "`prompt` and `completion`", lambda row: pair(row) is not None, _completion
)
