"""Questions about pictures, as the public sets have them: many questions on one picture, or one talk about many."""

from __future__ import annotations

from typing import Any

from data_prep.formats.base import Format, Work, assistant, has
from data_prep.parts import Media
from data_prep.row import Message, Row, RowFault


def _pairs(row: Row) -> list[Row]:
    """One row for every question and its answer, the picture with each.

    Raises:
        RowFault: questions and answers don't pair.
    """
    given = row["qa_pairs"]
    if isinstance(given, list):
        pairs = given
    else:
        columns = [given.get("question") or [], given.get("answer") or []] if isinstance(given, dict) else [[], [None]]
        if len(columns[0]) != len(columns[1]):
            raise RowFault("pairs", f"{len(columns[0])} questions, but {len(columns[1])} answers")
        pairs = [{"question": asked, "answer": told} for asked, told in zip(*columns, strict=True)]
    if not pairs or not all(isinstance(pair, dict) for pair in pairs):
        raise RowFault("pairs", "`qa_pairs` holds no pair of a question and an answer")
    return [{"image": row["image"], **pair} for pair in pairs]


def _pair(row: Row, work: Work) -> Row:
    asked: list[Message] = [
        {"type": "image", "path": work.take(row["image"])},
        {"type": "text", "text": work.text(row, "question")},
    ]
    return {"messages": [{"role": "user", "content": asked}, assistant(work.text(row, "answer"))]}


def _talk(row: Row, work: Work) -> Row:
    """All pictures before the first question; the questions follow each other."""
    media = Media(work.take, work.marks, row["images"] if isinstance(row["images"], list) else [row["images"]])
    pictures: list[Message] = [{"type": "image", "path": media.next()} for _ in media.listed]
    found: list[Message] = []
    for number, turn in enumerate(row["texts"]):
        if not isinstance(turn, dict):
            raise RowFault("not_turns", f"`texts[{number}]` is no question with its answer")
        text: Any = work.text(turn, "user")
        first = [*pictures, {"type": "text", "text": text}] if not found and pictures else text
        found += [{"role": "user", "content": first}, assistant(work.text(turn, "assistant"))]
    if not found:
        raise RowFault("no_answer", "`texts` is empty")
    return {"messages": found}


def _is_talk(row: Row) -> bool:
    return "images" in row and isinstance(row.get("texts"), list)


COSYN = Format("cosyn", "messages", "`image` and `qa_pairs`", has("image", "qa_pairs"), _pair, _pairs)
DOCMATIX = Format("docmatix", "messages", "`images`, and `texts` of `user` and `assistant`", _is_talk, _talk)
