"""Messages and tools, as chat APIs write them: plain dictionaries, so that every engine and template takes them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
"""`role`, `content`, and where there are some `tool_calls`, `reasoning_content`, `tool_call_id`."""
Tool = dict[str, Any]
"""`{"type": "function", "function": {"name", "description", "parameters": JSON Schema}}`."""


@dataclass(frozen=True)
class Call:
    """One tool call of the model's, as an environment wants it.

    Attributes:
        id: what the answer refers to; empty when the model's format has no ids.
        name: the tool.
        arguments: what was passed; empty when it was no JSON object.
        fault: what is wrong with the arguments, in words for the model; None when they are an object.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    fault: str | None = None


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str = "", *calls: Message) -> Message:
    """What a model said, with the tool calls that `call` makes."""
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def call(name: str, ident: str = "", **arguments: Any) -> Message:
    """One entry of `tool_calls`."""
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def tool(name: str, description: str, **parameters: str) -> Tool:
    """A tool whose parameters are all required texts: `tool("bash", "Run a command.", command="What to run.")`."""
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def calls(message: Message) -> list[Call]:
    """The tool calls of a message. Never raises: what a model writes is judged, not trusted."""
    found = message.get("tool_calls")
    return [_call(one) for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def answer(to: Call, text: str) -> Message:
    """What a tool gives back to one call."""
    return {"role": "tool", "name": to.name, "content": text, **({"tool_call_id": to.id} if to.id else {})}


def text(message: Message) -> str:
    """The content as one text: parts joined, nothing for none."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content) if content is not None else ""


def _call(entry: Message) -> Call:
    inner = entry.get("function")
    function: Message = inner if isinstance(inner, dict) else entry
    given, ident, name = function.get("arguments"), str(entry.get("id") or ""), str(function.get("name") or "")
    try:
        arguments = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError) as error:
        return Call(ident, name, {}, f"the arguments are not JSON: {error}")
    if not isinstance(arguments, dict):
        return Call(ident, name, {}, f"the arguments must be a JSON object, not {type(arguments).__name__}")
    return Call(ident, name, arguments)
