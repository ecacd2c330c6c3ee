"""ATEM: how a tool call is written and read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from data_prep.rendering.glimmer.words import Unrenderable

Arguments = dict[str, Any]

_OPEN, _CLOSE = "<atem:function_calls>", "</atem:function_calls>"
_BLOCK = re.compile(rf"{_OPEN}(.*?)(?:{_CLOSE}|\Z)", re.DOTALL)
_INVOKE = re.compile(r'<atem:invoke name="([^"]*)">(.*?)(</atem:invoke>|(?=<atem:invoke )|\Z)', re.DOTALL)
_PARAMETER = re.compile(r'<atem:parameter name="([^"]*)">(.*?)</atem:parameter>', re.DOTALL)


@dataclass(frozen=True)
class Call:
    """A call as the model wrote it.

    Attributes:
        name: the tool's; empty where it has none.
        arguments: by name.
        raw: the text.
        fault: why it can't be run; None for a good one.
    """

    name: str
    arguments: Arguments
    raw: str
    fault: str | None = None


def written(name: str, arguments: Any) -> str:
    """A call in the format.

    Raises:
        Unrenderable: the arguments are no mapping.
    """
    if not isinstance(arguments, Mapping):
        raise Unrenderable(f"the arguments of the tool call {name!r} are {type(arguments).__name__}, not an object")
    lines = "".join(
        f'<atem:parameter name="{key}">{_plain(value)}</atem:parameter>\n' for key, value in arguments.items()
    )
    return f'{_OPEN}\n<atem:invoke name="{name}">\n{lines}</atem:invoke>\n{_CLOSE}'


def calls(text: str, tools: Sequence[Mapping[str, Any]] = ()) -> tuple[list[Call], str]:
    """Every call in a text, and the text without them.

    Args:
        tools: schemas; a parameter that is declared as text stays text, whatever it looks like.
    """
    declared = {name: kinds for tool in tools for name, kinds in [_declared(tool)]}
    found = [call for block in _BLOCK.finditer(text) for call in _in_block(block, declared)]
    return found, _BLOCK.sub("", text)


def as_json(value: Any) -> str:
    """JSON as chat templates write it."""
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Mapping | Iterable) and not isinstance(value, str):
        return as_json(value)
    return str(value)


def _in_block(block: re.Match[str], declared: Mapping[str, Mapping[str, Any]]) -> Iterable[Call]:
    closed = block[0].endswith(_CLOSE)
    invoked = list(_INVOKE.finditer(block[1]))
    if not invoked:
        yield Call("", {}, block[0], "it invokes nothing" if closed else "it is cut off")
    for one in invoked:
        name = one[1]
        arguments = {key: _value(text, declared.get(name, {}).get(key)) for key, text in _PARAMETER.findall(one[2])}
        yield Call(name, arguments, one[0], _fault(one, closed))


def _fault(invoked: re.Match[str], closed: bool) -> str | None:
    if not invoked[1]:
        return "it names no tool"
    if not invoked[3] or not closed:
        return "it is cut off"
    if left := _PARAMETER.sub("", invoked[2]).strip():
        return f"between its parameters stands {left[:40]!r}"
    return None


def _declared(tool: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    function = tool.get("function") or tool
    properties = (function.get("parameters") or {}).get("properties") or {}
    return function.get("name", ""), properties


def _value(text: str, schema: Any) -> Any:
    """A parameter's text as the value that it stands for."""
    if "string" in _types(schema):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _types(schema: Any) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    named = schema.get("type")
    types = {named} if isinstance(named, str) else set(named or ())
    return types.union(*(_types(one) for key in ("anyOf", "oneOf") for one in schema.get(key) or ()))
