"""Evaluation items from JSONL. Standard library only: the plan reads them as well as the worker.

{"prompt": MESSAGES or "text", "answer": "text", ...}      further columns go to a reward function
{"messages": [..., {"role": "assistant", "content": "the expected answer"}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Message = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """One question.

    Attributes:
        prompt: chat messages, or text that is given to the model as it is.
        expected: the answer wanted; None when a reward function judges without one.
        columns: every other column of the row.
        tools: tool definitions that the chat template renders.
        place: file:line.
    """

    prompt: str | list[Message]
    expected: str | None
    columns: dict[str, Any]
    tools: list[Any] | None = None
    place: str = field(default="", compare=False)


class ItemsError(Exception):
    """Items that can't be used: what is wrong, with file:line, and the fix."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message, self.fix = message, fix


def read(path: Path, *, needs_answer: bool, limit: int | None = None) -> list[Item]:
    """The first `limit` items, all of one kind of prompt.

    Raises:
        ItemsError: no file, no items, or a row that is no item.
    """
    items = [_item(row, where, needs_answer) for where, row in _rows(path, limit)]
    if not items:
        raise ItemsError(f"{path} holds no items", 'write one JSON object a line: {"prompt": ..., "answer": ...}')
    if len({isinstance(item.prompt, str) for item in items}) > 1:
        raise ItemsError(f"{path} mixes text prompts and chat prompts", "write all prompts in one form")
    return items


def _rows(path: Path, limit: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    count = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield f"{path}:{number}", _object(line, f"{path}:{number}")
                    count += 1
                if count == limit:
                    return
    except FileNotFoundError:
        raise ItemsError(f"no such file: {path}", "set data.eval to a JSONL file of held-out items") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ItemsError(f"{path} can't be read: {error}", "write it as UTF-8 JSONL") from None


def _object(line: str, where: str) -> dict[str, Any]:
    if line.startswith("version https://git-lfs"):
        raise ItemsError(f"{where}: this is a Git-LFS pointer, not the data", "git lfs pull")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ItemsError(f"{where}: not JSON: {error}", "write one JSON object a line") from None
    if not isinstance(row, dict):
        raise ItemsError(f"{where}: a row is a JSON object, not {type(row).__name__}", "write one JSON object a line")
    return row


def _item(row: dict[str, Any], where: str, needs_answer: bool) -> Item:
    rest = {k: v for k, v in row.items() if k not in ("prompt", "messages", "answer")}
    tools = _tools(row.get("tools"), where)
    if "prompt" in row:
        return Item(_prompt(row["prompt"], where), _answer(row.get("answer"), where, needs_answer), rest, tools, where)
    if "messages" not in row:
        raise ItemsError(
            f"{where}: neither `prompt` nor `messages`, but {', '.join(row) or 'nothing'}",
            "name the columns prompt and answer",
        )
    messages = _messages(row["messages"], where)
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise ItemsError(
            f"{where}: the last message is not the assistant's, so no answer is known",
            "end the row on the expected answer",
        )
    return Item(messages[:-1], _answer(_text(messages[-1]["content"]), where, needs_answer), rest, tools, where)


def _prompt(value: Any, where: str) -> str | list[Message]:
    if isinstance(value, str) and value:
        return value
    messages = _messages(value, where)
    if messages[-1]["role"] == "assistant":
        raise ItemsError(
            f"{where}: the prompt ends on an assistant turn, which leaves nothing to answer",
            "end it on the user's turn",
        )
    return messages


def _messages(value: Any, where: str) -> list[Message]:
    if not isinstance(value, list) or not value:
        raise ItemsError(
            f"{where}: a prompt is text or a list of messages", 'write [{"role": "user", "content": "..."}]'
        )
    for message in value:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str) or "content" not in message:
            raise ItemsError(
                f"{where}: a message needs `role` and `content`", 'write {"role": "user", "content": "..."}'
            )
        if any(isinstance(part, dict) and part.get("type", "text") != "text" for part in _parts(message["content"])):
            raise ItemsError(
                f"{where}: only text is evaluated, and this message has another part", "leave out items with media"
            )
    return value


def _answer(value: Any, where: str, needed: bool) -> str | None:
    if isinstance(value, str) and (value.strip() or not needed):
        return value
    if value is None and not needed:
        return None
    found = "missing" if value is None else "empty" if isinstance(value, str) else f"{type(value).__name__}, not text"
    raise ItemsError(f"{where}: `answer` is {found}", "write the expected answer as a string, or use a reward: metric")


def _tools(value: Any, where: str) -> list[Any] | None:
    if isinstance(value, str):
        value = _list(value, where)
    if value is None or isinstance(value, list):
        return value or None
    raise ItemsError(f"{where}: `tools` is a list of tool definitions", "write a JSON list")


def _list(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ItemsError(f"{where}: `tools` is text that is no JSON", "write a JSON list") from None


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else []


def _text(content: Any) -> Any:
    return "".join(part.get("text", "") for part in content) if isinstance(content, list) else content
