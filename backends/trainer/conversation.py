"""Messages as lines of Markdown, to read what was said. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def lines(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Each message under its role, indented, so that nothing in it is read as Markdown."""
    for message in messages:
        yield from ("", f"**{message.get('role')}**", "")
        yield from (f"    {line}" for line in _text(message).splitlines())


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    said = [content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)] if content else []
    if thought := message.get("reasoning_content"):
        said.insert(0, f"(thinks) {thought}")
    calls = [call.get("function", call) for call in message.get("tool_calls") or () if isinstance(call, dict)]
    return "\n".join([*said, *(f"-> {call.get('name')} {call.get('arguments')}" for call in calls)])
