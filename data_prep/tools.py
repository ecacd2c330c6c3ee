"""Tool definitions and calls: one form for both.

Definitions become `{"type": "function", "function": {"name", "description", "parameters"}}` in one JSON text a row: a
column of nested objects would give every row the keys of all rows. Arguments of calls become objects, because there
are chat templates that take nothing else.
"""

from __future__ import annotations

import json
from typing import Any

from data_prep.jsontext import NotJson, dump_plain, parse
from data_prep.row import Marks, Message, RowFault, kind

_TYPES = {
    "dict": "object",
    "float": "number",
    "double": "number",
    "int": "integer",
    "long": "integer",
    "str": "string",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
}


def definitions(value: Any, marks: Marks) -> str | None:
    """Definitions as JSON text; None where there are none.

    Raises:
        RowFault: no list of definitions.
    """
    found = json_of(value, "`tools`") if isinstance(value, str) and value.strip() else value
    found = [found] if isinstance(found, dict) else found
    if not found:
        return None
    if not isinstance(found, list):
        raise RowFault("bad_tools", f"`tools` is {kind(found)}, not a list of definitions")
    odd = set[str]()
    text = dump_plain([_definition(tool, number, odd) for number, tool in enumerate(found)]).decode()
    if odd:
        marks.append(("tool_types", f"types of tool parameters are JSON Schema's now: {', '.join(sorted(odd))}"))
    return text


def _definition(tool: Any, number: int, odd: set[str]) -> Message:
    inner = tool.get("function", tool) if isinstance(tool, dict) else tool
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str) or not inner["name"]:
        raise RowFault("bad_tools", f"`tools[{number}]` has no name")
    parameters = inner.get("parameters") or {"type": "object", "properties": {}}
    parameters = json_of(parameters, f"`tools[{number}].parameters`") if isinstance(parameters, str) else parameters
    if isinstance(parameters, dict) and "properties" not in parameters and "type" not in parameters:
        parameters = {"type": "object", "properties": parameters}
    known = {"description": "", **inner, "parameters": _typed(parameters, odd)}
    function = {"name": known.pop("name"), **known}
    return {"type": "function", "function": function}


def _typed(value: Any, odd: set[str]) -> Any:
    """JSON Schema's own names of types, where a name of Python's stands."""
    if isinstance(value, list):
        return [_typed(item, odd) for item in value]
    if not isinstance(value, dict):
        return value
    typed = {key: _typed(item, odd) for key, item in value.items()}
    name = value.get("type")
    if isinstance(name, str) and name.lower() in _TYPES:
        odd.add(f"{name} -> {_TYPES[name.lower()]}")
        typed["type"] = _TYPES[name.lower()]
    return typed


def calls(value: Any, name: str) -> list[Message]:
    """Calls from text or objects, one or several.

    Raises:
        RowFault: not a call with a name and arguments that are an object.
    """
    found = json_of(value, name) if isinstance(value, str) else value
    several = found if isinstance(found, list) else [found]
    if not several:
        raise RowFault("bad_call", f"{name} holds no call")
    return [_call(call, name) for call in several]


def _call(call: Any, name: str) -> Message:
    inner = call.get("function", call) if isinstance(call, dict) else call
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        raise RowFault("bad_call", f"{name} is no call with a name and arguments")
    given = inner.get("arguments", inner.get("parameters", {}))
    arguments = json_of(given or "{}", f"the arguments of {inner['name']}") if isinstance(given, str) else given
    if not isinstance(arguments, dict):
        raise RowFault("bad_call", f"the arguments of {inner['name']} are {kind(arguments)}, not an object")
    known = {"id": call["id"]} if isinstance(call.get("id"), str) else {}
    return {**known, "type": "function", "function": {"name": inner["name"], "arguments": arguments}}


def json_of(text: str, name: str) -> Any:
    """A JSON value that stands in a text.

    Raises:
        RowFault: it is no JSON.
    """
    try:
        return parse(text.encode("utf-8", "surrogatepass"))[0]
    except NotJson as fault:
        raise RowFault("bad_json", f"{name} is text that is {fault.what}") from None


def as_text(value: Any) -> str:
    """What a tool gave back, as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
