"""Muse Glimmer's conversations as tokens, by its format instead of its template."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from data_prep.rendering.glimmer import EOT, SPECIAL, MuseGlimmer, Reader
from data_prep.rendering.piece import text
from orchestrator.harness import WorkError
from orchestrator.tasks import Message, Tool


def special(tokenizer: Any) -> dict[str, int]:
    """Ids of the format's tokens.

    Raises:
        WorkError: the tokenizer lacks one.
    """
    return {token: _id(tokenizer, token) for token in SPECIAL}


def reader(tokenizer: Any) -> Reader:
    """What reads a model's tokens.

    Raises:
        WorkError: the tokenizer lacks a token of the format.
    """
    return Reader(lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)), special(tokenizer))


class GlimmerChat:
    """Messages to tokens and back, as `Chat` does it for templates.

    Args:
        ends: tokens that end a turn.

    Raises:
        WorkError: the tokenizer lacks a token of the format.
    """

    def __init__(self, tokenizer: Any, ends: Collection[int], form: MuseGlimmer) -> None:
        self._tokenizer, self._form, self.ends = tokenizer, form, set(ends)
        self._reader = reader(tokenizer)

    def opening(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Tokens of what the environment opens with."""
        return self._ids(text(self._form.pieces(messages, tools, prompt=True)))

    def tail(self, said: Message, last: int, answers: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Tokens between the model's last one and its next.

        Raises:
            WorkError: what the environment adds can't be told without rendering all of it.
        """
        del said  # stays as it was sampled
        bridge = self._form.bridge(answers, tools)
        if bridge is None:
            raise WorkError(
                "task.template",
                "what the environment answers can't be put behind sampled tokens in Muse Glimmer's format",
                why="the model would be trained on other tokens than it sampled",
                fix="answer with messages of user, system or tool, and give each tool's message its `name`",
            )
        return self._ids(("" if last in self.ends else EOT) + text(bridge))

    def message(self, prefix: list[int], ids: list[int], tools: Sequence[Tool]) -> Message:
        """What the model said."""
        del prefix  # generation always begins behind the same words
        return self._reader.reply(ids, tools, self._form.options).message()

    def _ids(self, words: str) -> list[int]:
        return list(self._tokenizer(words, add_special_tokens=False)["input_ids"])


def _id(tokenizer: Any, token: str) -> int:
    found = tokenizer.convert_tokens_to_ids(token)
    if found is None or found == tokenizer.unk_token_id:
        raise WorkError(
            "renderer.tokens",
            f"the tokenizer has no token {token}, which Muse Glimmer's chat format is made of",
            fix="carry the tokenizer over from the published model, or take the chat template of its own model",
        )
    return int(found)
