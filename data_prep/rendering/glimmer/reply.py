"""What a model wrote, read back: answer, reasoning, tool calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from data_prep.rendering.glimmer import atem
from data_prep.rendering.glimmer.atem import Call
from data_prep.rendering.glimmer.options import Options
from data_prep.rendering.glimmer.words import END_OF_TEXT, EOM, EOT, MESSAGE, START

_RECIPIENT = re.compile(r"to=(\S+)")


@dataclass(frozen=True)
class Reply:
    """A turn of the assistant.

    Attributes:
        content: what the user sees.
        reasoning: what it wrote to itself; None for nothing.
        calls: tool calls, good and bad, in order.
        over: it ended its turn.
        thinking: it was cut off within its reasoning.
    """

    content: str
    reasoning: str | None = None
    calls: list[Call] = field(default_factory=list)
    over: bool = True
    thinking: bool = False

    def message(self) -> dict[str, Any]:
        """As a message. A call that can't be run has its text for arguments, which no tool takes for an object."""
        said: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning:
            said["reasoning_content"] = self.reasoning
        if self.calls:
            said["tool_calls"] = [_entry(call) for call in self.calls]
        return said


@dataclass
class _Block:
    header: list[int] = field(default_factory=list)
    body: list[int] | None = None
    closed: bool = False


class Reader:
    """Reads token ids, never text: what a model spells out of ordinary tokens is no special token.

    Args:
        decode: ids to text, special tokens kept.
        ids: id of each special token.
    """

    def __init__(self, decode: Callable[[list[int]], str], ids: Mapping[str, int]) -> None:
        self._decode, self._ids = decode, ids

    def reply(self, ids: Sequence[int], tools: Sequence[Mapping[str, Any]], options: Options) -> Reply:
        """What was sampled behind the generation prompt."""
        stops = {self._ids[EOT], self._ids[END_OF_TEXT]}
        end = next((place for place, one in enumerate(ids) if one in stops), None)
        said: list[str] = []
        thoughts: list[str] = []
        calls: list[Call] = []
        thinking = False
        for block in self._blocks(ids[:end], over=end is not None):
            recipient, body = self._recipient(block), self._decode(block.body or [])
            thinking = recipient == "self" and not block.closed
            if recipient == "self":
                thoughts.append(body)
                continue
            found, rest = atem.calls(body, tools)
            calls += found
            if recipient == "user":
                said.append(rest)
            elif not found:
                calls.append(Call(recipient, {}, body, "it holds no call in ATEM" if block.closed else "it is cut off"))
        reasoning = "\n".join(thoughts)
        content = "".join(said)
        if options.answer_from_reasoning_fallback and not said and not calls:
            content = _last_line(reasoning)
        return Reply(content, reasoning or None, calls, end is not None, thinking)

    def _blocks(self, ids: Sequence[int], *, over: bool) -> Iterator[_Block]:
        """The blocks, of which the first lacks its opening."""
        start, message, eom = (self._ids[one] for one in (START, MESSAGE, EOM))
        block = _Block()
        for one in ids:
            if one in (start, eom):
                block.closed = one == eom
                if block.header or block.body is not None:
                    yield block
                block = _Block()
            elif one == message and block.body is None:
                block.body = []
            else:
                (block.header if block.body is None else block.body).append(one)
        block.closed = over
        if block.header or block.body is not None:
            yield block

    def _recipient(self, block: _Block) -> str:
        found = _RECIPIENT.search(self._decode(block.header))
        return found[1] if found else "user"


def _entry(call: Call) -> dict[str, Any]:
    arguments = call.arguments if call.fault is None else call.raw
    return {"type": "function", "function": {"name": call.name, "arguments": arguments}}


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
