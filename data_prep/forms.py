"""The forms a row may have, by what it is used for, and what makes a row of that form usable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from data_prep.rows import Row

Use = Literal["sft", "dpo", "grpo", "eval"]
Check = Callable[[Row], str | None]
"""A row's fault in words, or None."""

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


def form_of(row: Row, use: Use) -> str | None:
    """Name of the first form of this use whose columns the row has, e.g. `messages` or `prompt+completion`."""
    return next((name for name in FORMS[use] if all(column in row for column in name.split("+"))), None)


def fault(row: Row, use: Use, form: str) -> str | None:
    """What is wrong with a row of a known form, or None."""
    return FORMS[use][form](row)


def _messages(value: Any, column: str) -> str | None:
    if not isinstance(value, list) or not value:
        return f"`{column}` must be a non-empty list of messages"
    for number, message in enumerate(value):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            return f"`{column}[{number}]` must be an object with `role` and `content`"
        if message["role"] not in ROLES:
            return f"`{column}[{number}].role` is {message['role']!r}; one of {', '.join(sorted(ROLES))}"
        if not _content(message.get("content")) and not (message.get("tool_calls") and not message.get("content")):
            return f"`{column}[{number}].content` must be text or a list of typed parts"
    return None


def _content(value: Any) -> bool:
    """Text, or parts such as `{"type": "text", "text": ...}`."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in value)
    return isinstance(value, str)


def _chat(row: Row) -> str | None:
    wrong = _messages(row["messages"], "messages")
    if wrong:
        return wrong
    if not any(m["role"] == "assistant" for m in row["messages"]):
        return "`messages` has no assistant turn, so there is nothing to learn"
    return None


def _answered(row: Row) -> str | None:
    wrong = _chat(row)
    return wrong or (
        None if row["messages"][-1]["role"] == "assistant" else "`messages` must end with the expected answer"
    )


def _turn(value: Any, column: str) -> str | None:
    if isinstance(value, str):
        return None if value.strip() else f"`{column}` is empty"
    return _messages(value, column)


def _turns(*columns: str) -> Check:
    return lambda row: next((wrong for c in columns if (wrong := _turn(row[c], c))), None)


def _text(row: Row) -> str | None:
    return None if isinstance(row["text"], str) and row["text"].strip() else "`text` must be non-empty text"


def _pair(row: Row) -> str | None:
    columns = [c for c in ("prompt", "chosen", "rejected") if c in row]
    wrong = _turns(*columns)(row)
    if not wrong and row["chosen"] == row["rejected"]:
        return "`chosen` and `rejected` are the same, so there is no preference"
    return wrong


def _item(row: Row) -> str | None:
    wrong = _turn(row["prompt"], "prompt")
    if not wrong and not isinstance(row["answer"], str):
        return f"`answer` must be text, not {type(row['answer']).__name__}"
    return wrong


FORMS: dict[Use, dict[str, Check]] = {
    "sft": {"messages": _chat, "prompt+completion": _turns("prompt", "completion"), "text": _text},
    "dpo": {"chosen+rejected": _pair},
    "grpo": {"prompt": _turns("prompt")},
    "eval": {"prompt+answer": _item, "messages": _answered},
}
