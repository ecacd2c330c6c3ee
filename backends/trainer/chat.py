"""Conversations as tokens that are never rendered twice, by a tokenizer's chat template.

What the model wrote stays as the tokens it sampled; only what the environment adds is rendered, behind it. So a loss
sees exactly the tokens that were sampled, under the context they were sampled in.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backends.trainer.glimmer import GlimmerChat
from data_prep.rendering.known import known
from orchestrator.harness import WorkError
from orchestrator.tasks import Message, Tool

_DUMMY: Message = {"role": "user", "content": "x"}


def marked(template: str | None) -> bool:
    """Whether a template marks what the assistant wrote."""
    from trl.chat_template_utils import has_generation_markers

    return template is not None and bool(has_generation_markers(template))


def twin(tokenizer: Any) -> str | None:
    """TRL's edition of a known template, with markers and without rewriting earlier turns; None for others."""
    from trl.chat_template_utils import get_training_chat_template

    if tokenizer.chat_template is None or marked(tokenizer.chat_template):
        return None
    try:
        found = get_training_chat_template(tokenizer)
    except ValueError:
        return None
    return str(found) if found else None


class Chat:
    """Messages to tokens and back.

    Args:
        ends: tokens that end a turn.
        options: arguments of the chat template.
    """

    def __init__(self, tokenizer: Any, ends: Collection[int], options: Mapping[str, Any] | None = None) -> None:
        if tokenizer.chat_template is None:
            message = "a task is a conversation, but the tokenizer has no chat template"
            raise WorkError("template.missing", message, fix="name a model that was tuned to chat")
        self._tokenizer, self._parses = _reading_calls(tokenizer)
        self._template, self.ends, self._options = twin(tokenizer), set(ends), dict(options or {})

    def opening(self, messages: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Tokens of what the environment opens with.

        Raises:
            WorkError: there are tools, but nobody knows how this model writes a call.
        """
        if tools and not self._parses:
            raise WorkError(
                "task.tools",
                "the task has tools, but TRL knows no format of tool calls for this model's chat template",
                fix="use a model whose template it knows, or set `response_template` in the tokenizer's config",
            )
        return self._ids(self._text(list(messages), list(tools)))

    def tail(self, said: Message, last: int, answers: Sequence[Message], tools: Sequence[Tool]) -> list[int]:
        """Tokens between the model's last one and its next: the end of its turn, what came back, the next header.

        Raises:
            WorkError: the template writes earlier turns anew once others follow.
        """
        before = [_DUMMY, {"content": "", **said}]
        prefix = self._text(before, list(tools), more=False)
        full = self._text([*before, *answers], list(tools))
        if not full.startswith(prefix):
            raise WorkError(
                "task.template",
                "the chat template writes an earlier turn differently once others follow it",
                why="the model would be trained on other tokens than it sampled",
                fix="use a model whose training template TRL knows, or a task of one turn",
            )
        end = self._tokenizer.decode([last])
        at = prefix.rfind(end) if last in self.ends else -1
        return self._ids(full[at + len(end) :] if at >= 0 else full[len(prefix) :])

    def message(self, prefix: list[int], ids: list[int], tools: Sequence[Tool]) -> Message:
        """What the model said."""
        from trl.chat_template_utils import parse_response

        if self._parses:
            return dict(parse_response(self._tokenizer, ids, prefix=prefix, tools=list(tools) or None))
        return {"role": "assistant", "content": self._tokenizer.decode(ids, skip_special_tokens=True)}

    def _text(self, messages: list[Message], tools: list[Tool], *, more: bool = True) -> str:
        given = self._options | ({"tools": tools} if tools else {})
        return str(
            self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=more, chat_template=self._template, **given
            )
        )

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


Renderer = Chat | GlimmerChat
"""Whatever turns a model's conversations into tokens and back."""


def chat_of(tokenizer: Any, ends: Collection[int], options: Mapping[str, Any] | None = None) -> Renderer:
    """A tokenizer's conversations: by a format that is written out where its template is one, else by the template.

    Args:
        ends: tokens that end a turn.
        options: arguments of the chat template.

    Raises:
        WorkError: the tokenizer has no chat template.
    """
    form = known(tokenizer.chat_template, options)
    return GlimmerChat(tokenizer, ends, form) if form else Chat(tokenizer, ends, options)


def _reading_calls(tokenizer: Any) -> tuple[Any, bool]:
    """A copy that can read tool calls, and whether it can: the original is saved with the model, and stays as it is."""
    from trl.chat_template_utils import add_response_schema

    reader = copy.deepcopy(tokenizer)
    if getattr(reader, "response_template", None) or getattr(reader, "response_schema", None):
        return reader, True
    try:
        return add_response_schema(reader), True
    except ValueError:  # a template that TRL has no format for
        return reader, False
