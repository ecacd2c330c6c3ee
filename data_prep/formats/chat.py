"""Conversations: OpenAI messages, ShareGPT and its variants, bare lists of turns; and text for pretraining."""

from __future__ import annotations

from typing import Any

from data_prep import turns
from data_prep.formats.base import Format, Work, all_placed, conversation, has, with_system, with_tools
from data_prep.row import Row, RowFault

COLUMNS = ("messages", "conversations", "conversation", "dialogue", "dialog", "chat", "turns")
BARE = "(the row)"
"""The column under which a row that is a bare list of turns is kept."""


def column(row: Row) -> str | None:
    """The column that holds the conversation."""
    return next((name for name in (*COLUMNS, BARE) if name in row), None)


def _is_sharegpt(row: Row) -> bool:
    value: Any = row.get(column(row) or "")
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "from" in value[0]


def _convert(row: Row, work: Work) -> Row:
    name = column(row) or "messages"
    media = work.media(row)
    found = conversation(row.get(name), name, media)
    found = with_system(turns.answered(found, name, work.marks), row, work)
    all_placed(found, media, work)
    return with_tools({"messages": found}, row, work)


def _is_pretraining(row: Row) -> bool:
    value: Any = row.get(column(row) or "")
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and value[0].get("role") == "pretrain"


def _pretraining(row: Row, work: Work) -> Row:
    name = column(row) or "messages"
    text = row[name][0].get("content")
    if len(row[name]) != 1 or not isinstance(text, str):
        raise RowFault("pretrain", f"`{name}` is for pretraining and holds more than one piece of text")
    return {"text": work.text({name: text}, name)}


def _text(row: Row, work: Work) -> Row:
    return {"text": work.text(row, "text")}


PRETRAIN = Format("pretrain", "text", "`messages` of the role `pretrain`", _is_pretraining, _pretraining)
SHAREGPT = Format("sharegpt", "messages", "`conversations` of `from` and `value`", _is_sharegpt, _convert)
MESSAGES = Format(
    "messages", "messages", "`messages` of `role` and `content`", lambda r: column(r) is not None, _convert
)
TEXT = Format("text", "text", "`text`", has("text"), _text)
