"""The system block: what the caller says, the reasoning strength, the tools, and to whom the model may write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from data_prep.rendering.glimmer.atem import as_json
from data_prep.rendering.glimmer.options import Options
from data_prep.rendering.glimmer.words import Unrenderable

Tool = Mapping[str, Any]

_STRENGTH = "Reasoning strength"
_CASINGS = (
    ("Reasoning effort", "Reasoning strength"),
    ("Reasoning Effort", "Reasoning Strength"),
    ("reasoning effort", "reasoning strength"),
    ("REASONING EFFORT", "REASONING STRENGTH"),
)
_HOW = """\
In this environment you have access to a set of tools you can use to answer the user's question.

You can invoke a function by writing a "<atem:function_calls>" block like the following:
<atem:function_calls>
<atem:invoke name="$FUNCTION_NAME">
<atem:parameter name="$PARAMETER_NAME">$PARAMETER_VALUE</atem:parameter>
...
</atem:invoke>
</atem:function_calls>

String and scalar parameters should be specified as is, while lists and objects should use JSON format. \
Note that spaces for string values are not stripped. The output is not expected to be valid XML and is parsed with \
regular expressions.
Here are the functions available in JSONSchema format:
// Tool metadata
"""
_EXAMPLE = """\

Here's an example of how to call a function in the tool set:
(If the tool namespace is not specified, invoke the function directly as `example_function_name` rather than \
`example_tool_name.example_function_name`)

to=example_tool_name.example_function_name

<atem:function_calls>
<atem:invoke name="example_tool_name.example_function_name">
<atem:parameter name="example_parameter_1">value_1</atem:parameter>
<atem:parameter name="example_parameter_2">This is the value for the second parameter
that can span
"multiple" lines
</atem:parameter>
</atem:invoke>
</atem:function_calls>"""


def default(tools: Sequence[Tool], options: Options) -> str:
    """The block's text where the conversation has no system message."""
    cutoff = options.knowledge_cutoff or "2026-01-04"
    said = f"You are a helpful AI assistant.\nKnowledge cutoff: {cutoff}.\nCurrent date: {options.date}."
    return _whole(said, tools, options)


def given(said: str, tools: Sequence[Tool], options: Options) -> str:
    """The block's text around a system message, whose own word for the reasoning strength counts."""
    for old, new in _CASINGS:
        said = said.replace(old, new)
    return _whole(said, tools, options)


def _whole(said: str, tools: Sequence[Tool], options: Options) -> str:
    parts = [said]
    if _STRENGTH.lower() not in said.lower():
        parts.append(f"{_STRENGTH}: {options.reasoning_strength or 'high'}.")
    if tools:
        parts.append(_defined(tools, options))
    parts.append(_recipients(tools))
    return "\n\n".join(parts)


def _defined(tools: Sequence[Tool], options: Options) -> str:
    spaces = [
        f'{{"name": {as_json(name)}, "description": {as_json(options.tool_namespace_descriptions.get(name, ""))}}}\n'
        for name in _namespaces(tools)
    ]
    schemas = "".join(f"{_schema(_function(tool))}\n" for tool in tools)
    return f"{_HOW}{''.join(spaces)}// Function schemas\n{schemas}{_EXAMPLE}"


def _schema(function: Mapping[str, Any]) -> str:
    try:
        fields = ", ".join(f'"{key}": {as_json(function[key])}' for key in ("name", "description", "parameters"))
    except KeyError as missing:
        raise Unrenderable(f"the tool {function.get('name', '?')!r} has no {missing.args[0]}") from None
    return f"{{{fields}}}"


def _recipients(tools: Sequence[Tool]) -> str:
    names = ["self", *(f"{name}.*" for name in _namespaces(tools)), "user"]
    return f"# Valid recipients: {', '.join(f'{chr(34)}{name}{chr(34)}' for name in names)}."


def _namespaces(tools: Sequence[Tool]) -> Iterator[str]:
    yield from dict.fromkeys(str(_function(tool)["name"]).split(".")[0] for tool in tools)


def _function(tool: Tool) -> Mapping[str, Any]:
    function: Mapping[str, Any] = tool.get("function", tool)
    return function
