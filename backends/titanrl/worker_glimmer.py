"""Muse Glimmer's chat format as a renderer of the library `renderers`, which TitanRL builds in its worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from renderers import Message, ParsedResponse, ParsedToolCall, RenderedTokens, ToolCallParseStatus, ToolSpec
from renderers.base import (
    extract_message_tool_names,
    should_rerender_for_thinking_retention,
    trim_to_turn_close,
)

from backends.titanrl.worker_calls import mapped
from backends.trainer.glimmer import reader, special
from data_prep.rendering.glimmer import STOPS, Call, MuseGlimmer, Options
from data_prep.rendering.piece import Part, Piece, text

_STATUS = {"it is cut off": ToolCallParseStatus.UNCLOSED_BLOCK, "it names no tool": ToolCallParseStatus.MISSING_NAME}


class MuseGlimmerRenderer:
    """Messages to token ids and back.

    Args:
        tokenizer: a fast tokenizer, which tells the characters that a token stands for.
        thinking_retention: of the library; unset, every turn keeps its reasoning, as the chat template has it.

    Raises:
        WorkError: the tokenizer lacks a token of the format.
    """

    is_prefix_stable = False
    """The end of a turn with a tool call depends on what follows it."""

    def __init__(self, tokenizer: Any, options: Options, thinking_retention: str | None = None) -> None:
        self._tokenizer, self._options, self._format = tokenizer, options, MuseGlimmer(options)
        self._retention = thinking_retention or "all"
        self._ids, self._reader = special(tokenizer), reader(tokenizer)

    def render(
        self, messages: list[Message], *, tools: list[ToolSpec] | None = None, add_generation_prompt: bool = False
    ) -> RenderedTokens:
        """Token ids, and whose each one is.

        Raises:
            Unrenderable: the chat template refuses the conversation too.
        """
        said = [mapped(message) for message in messages]
        return self._tokens(self._format.pieces(said, tools or (), prompt=add_generation_prompt), said)

    def render_ids(
        self, messages: list[Message], *, tools: list[ToolSpec] | None = None, add_generation_prompt: bool = False
    ) -> list[int]:
        """Token ids alone."""
        return list(self.render(messages, tools=tools, add_generation_prompt=add_generation_prompt).token_ids)

    def parse_response(
        self, token_ids: list[int], *, tools: list[ToolSpec] | None = None, prompt_ids: list[int] | None = None
    ) -> ParsedResponse:
        """What was sampled: answer, reasoning, calls."""
        del prompt_ids  # generation always begins behind the same words
        reply = self._reader.reply(token_ids, tools or (), self._options)
        calls = [_parsed(call) for call in reply.calls]
        return ParsedResponse(reply.content, reply.reasoning, calls, reasoning_complete=not reply.thinking)

    def get_stop_token_ids(self) -> list[int]:
        """Where generation stops."""
        return [self._ids[token] for token in STOPS]

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: list[int],
        previous_completion_ids: list[int],
        new_messages: list[Message],
        *,
        tools: list[ToolSpec] | None = None,
    ) -> RenderedTokens | None:
        """The next prompt behind the tokens that were sampled; None where all of it is to be rendered anew."""
        said = [mapped(message) for message in new_messages]
        pieces = self._format.bridge(said, tools or ())
        if not previous_prompt_ids or pieces is None:
            return None
        if should_rerender_for_thinking_retention(self._retention, new_messages):
            return None
        before = trim_to_turn_close(
            previous_prompt_ids, previous_completion_ids, set(self.get_stop_token_ids()), synthesize_close=self._eot
        )
        return _behind(before, self._tokens(pieces, said))

    @property
    def _eot(self) -> int:
        return self.get_stop_token_ids()[0]

    def _tokens(self, pieces: Sequence[Piece], said: Sequence[Mapping[str, Any]]) -> RenderedTokens:
        encoded = self._tokenizer(text(pieces), add_special_tokens=False, return_offsets_mapping=True)
        owners = _owners(pieces, encoded["offset_mapping"])
        return RenderedTokens(
            token_ids=list(encoded["input_ids"]),
            message_indices=[-1 if piece.message is None else piece.message for piece in owners],
            sampled_mask=[piece.sampled and piece.part is not Part.HEADER for piece in owners],
            is_content=[piece.part in (Part.BODY, Part.END) for piece in owners],
            message_roles=[message["role"] for message in said],
            message_tool_names=extract_message_tool_names(list(said)),
        )


def _owners(pieces: Sequence[Piece], offsets: Sequence[tuple[int, int]]) -> list[Piece]:
    """The piece that each token begins in."""
    found: list[Piece] = []
    place, end = -1, 0
    for start, _ in offsets:
        while start >= end:
            place += 1
            end += len(pieces[place].text)
        found.append(pieces[place])
    return found


def _behind(before: list[int], added: RenderedTokens) -> RenderedTokens:
    """A prompt: nothing of it is sampled."""
    none = [False] * len(before)
    return RenderedTokens(
        token_ids=[*before, *added.token_ids],
        message_indices=[*([-1] * len(before)), *added.message_indices],
        sampled_mask=[*none, *([False] * len(added.token_ids))],
        is_content=[*none, *added.is_content],
        message_roles=added.message_roles,
        message_tool_names=added.message_tool_names,
    )


def _parsed(call: Call) -> ParsedToolCall:
    status = ToolCallParseStatus.OK
    if call.fault is not None:
        status = _STATUS.get(call.fault, ToolCallParseStatus.MALFORMED_STRUCTURE)
    return ParsedToolCall(raw=call.raw, name=call.name or None, arguments=call.arguments, status=status)
