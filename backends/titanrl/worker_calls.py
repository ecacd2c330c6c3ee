"""Tool calls as plain dictionaries, which tasks and renderers take; TitanRL 0.3.0 passes its parser's objects on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.tasks import Message


def unwrap(message: Message) -> Message:
    """Turn the parser's objects within a message into dictionaries.

    In place: TitanRL renders this very message again where a prompt can't be continued, and falls over its own objects.
    A call that can't be read keeps its text for arguments, and a task answers that they are not JSON.
    """
    if calls := message.get("tool_calls"):
        message["tool_calls"] = [call if isinstance(call, dict) else _entry(call) for call in calls]
    return message


def mapped(message: Mapping[str, Any]) -> Message:
    """A copy whose calls have objects for arguments, as Muse Glimmer's template wants; others are left out."""
    said = unwrap(dict(message))
    if calls := said.pop("tool_calls", None):
        found = [(call, call.get("function", call)) for call in calls]
        good = [(call, function, _object(function.get("arguments"))) for call, function in found]
        said["tool_calls"] = [
            {**call, "function": {**function, "arguments": arguments}}
            for call, function, arguments in good
            if arguments is not None
        ]
    return said


def _entry(call: Any) -> Message:
    arguments = call.arguments if call.status == "ok" else call.raw
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": call.id or "", "type": "function", "function": {"name": call.name or "", "arguments": given}}


def _object(arguments: Any) -> Any:
    """The arguments as an object; None for what is none."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    return arguments if isinstance(arguments, dict) else None
