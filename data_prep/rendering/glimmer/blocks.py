"""A conversation as the blocks of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from data_prep.rendering.glimmer import atem, system
from data_prep.rendering.glimmer.options import Options
from data_prep.rendering.glimmer.words import BEGIN, EOM, EOT, IMAGE, MESSAGE, START, VIDEO, Unrenderable
from data_prep.rendering.piece import Part, Piece

Message = Mapping[str, Any]

PROMPT = Piece(f"{START}assistant")
"""Where the assistant begins. It writes the recipient itself."""


def conversation(messages: Sequence[Message], tools: Sequence[system.Tool], options: Options) -> Iterator[Piece]:
    """Every block, from the beginning of the text on.

    Raises:
        Unrenderable: the template refuses it too.
    """
    yield Piece(BEGIN)
    if not any(message["role"] == "system" for message in messages):
        yield Piece(f"{START}system{MESSAGE}{system.default(tools, options)}{EOT}")
    yield from following(messages, tools, options)


def following(messages: Sequence[Message], tools: Sequence[system.Tool], options: Options) -> Iterator[Piece]:
    """The blocks of messages that follow others."""
    for number, message in enumerate(messages):
        match message["role"]:
            case "system":
                text = system.given(content(message), tools, options)
                yield from _block(number, "system", text)
            case "user":
                yield from _block(number, "user", content(message))
            case "tool":
                yield from _result(number, message, messages)
            case "assistant":
                yield from _assistant(number, message, messages[number + 1 :], options)


def content(message: Message) -> str:
    """Its text; pictures and films as the token that stands for them."""
    value = message.get("content")
    if value is None or isinstance(value, str):
        return value or ""
    return "".join(_part(part) for part in value)


def _part(part: Mapping[str, Any]) -> str:
    return {"image": IMAGE, "video": VIDEO}.get(
        part["type"], str(part.get("text", "")) if part["type"] == "text" else ""
    )


def _block(number: int, author: str, text: str) -> Iterator[Piece]:
    yield Piece(f"{START}{author}{MESSAGE}", Part.SCAFFOLD, number)
    yield Piece(text, Part.BODY, number)
    yield Piece(EOT, Part.SCAFFOLD, number)


def _result(number: int, message: Message, messages: Sequence[Message]) -> Iterator[Piece]:
    name = message.get("name") or _called(message.get("tool_call_id"), messages)
    yield Piece(f'{START}tool {name}{MESSAGE}<tool_output name="{name}">\n', Part.SCAFFOLD, number)
    yield Piece(content(message), Part.BODY, number)
    yield Piece(f"\n</tool_output>{EOT}", Part.SCAFFOLD, number)


def _called(ident: str | None, messages: Sequence[Message]) -> str:
    """The tool that the last call with an id called; the id itself where no call has it."""
    if ident is None:
        return ""
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    names = [str(call["function"]["name"]) for call in calls if call.get("id") == ident]
    return names[-1] if names else ident


def _assistant(number: int, message: Message, later: Sequence[Message], options: Options) -> Iterator[Piece]:
    kept = options.retain_reasoning_in_history or not later
    thought = message.get("reasoning_content") if kept else None
    if thought:
        yield from _said(number, "self", thought, EOM, first=True)
    first = not thought
    if calls := message.get("tool_calls"):
        goes_on = bool(later) and later[0]["role"] == "assistant"
        for place, call in enumerate(calls):
            end = EOM if goes_on or place < len(calls) - 1 else EOT
            yield from _call(number, call, end, first=first and place == 0)
        return
    recipient = message.get("recipient") or "user"
    over = message.get("end_turn")
    over = recipient == "user" if over is None else over
    yield from _said(number, recipient, content(message), EOT if over else EOM, first=first)


def _call(number: int, call: Mapping[str, Any], end: str, *, first: bool) -> Iterator[Piece]:
    function = call.get("function")
    if not isinstance(function, Mapping):
        raise Unrenderable("a tool call has no `function`")
    name = str(function["name"])
    yield from _said(number, name, atem.written(name, function.get("arguments")), end, first=first)


def _said(number: int, recipient: str, text: str, end: str, *, first: bool) -> Iterator[Piece]:
    """A block of the assistant. Generation begins behind the opening of its first one; the others it opens itself."""
    yield Piece(PROMPT.text, Part.SCAFFOLD if first else Part.HEADER, number, sampled=not first)
    yield Piece(f" to={recipient}{MESSAGE}", Part.HEADER, number, sampled=True)
    yield Piece(text, Part.BODY, number, sampled=True)
    yield Piece(end, Part.END, number, sampled=True)
