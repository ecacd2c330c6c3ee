"""A tokenizer's chat template: renders conversations and finds the assistant's turns in them."""

from __future__ import annotations

import json
from typing import Any

from backends.trainer.chat import marked, twin
from backends.trl.worker_data import Row
from data_prep.rendering import known
from data_prep.rendering.piece import Spans
from orchestrator.harness import WorkError


class Template:
    """Renders with one tokenizer.

    Attributes:
        marked: the template marks what the assistant wrote, its end-of-turn token included.
        dated: the template can write today's date, so that tomorrow's tokens are others.
        twin: TRL's edition of a known template, with markers and without rewriting earlier turns; None for others.
    """

    def __init__(self, tokenizer: Any) -> None:
        from trl.chat_template_utils import is_chat_template_stop_token_trained

        self._tokenizer = tokenizer
        self.known = tokenizer.chat_template is not None
        self.marked = marked(tokenizer.chat_template) and bool(is_chat_template_stop_token_trained(tokenizer))
        self.twin = twin(tokenizer)
        self.dated = bool(self.known and "strftime_now" in str(tokenizer.chat_template))
        self._ends = (*tokenizer.all_special_tokens, *tokenizer.get_added_vocab())

    def text(self, messages: list[Row], options: Row, where: str) -> str:
        """A whole conversation.

        Raises:
            WorkError: the template refuses it.
        """
        from jinja2 import TemplateError

        try:
            return str(self._tokenizer.apply_chat_template(messages, tokenize=False, **options))
        except (TemplateError, KeyError, IndexError, TypeError, ValueError) as error:
            raise WorkError(
                "template.row",
                f"{where}: the chat template can't render this row: {error}",
                fix="mend this row, or the chat template of the model",
            ) from error

    def marks(self, messages: list[Row], options: Row, template: str | None) -> tuple[list[int], list[bool]]:
        """Token ids, and for each whether the template's markers give it to the assistant."""
        full = self._tokenizer.apply_chat_template(
            messages,
            tokenize=True,
            return_dict=True,
            return_assistant_tokens_mask=True,
            chat_template=template,
            **options,
        )
        return list(full["input_ids"]), [bool(bit) for bit in full["assistant_masks"]]

    def prompt_ids(self, messages: list[Row], options: Row, template: str | None) -> list[int]:
        """Token ids of a prompt as inference renders it."""
        prompt = self._tokenizer.apply_chat_template(
            messages, tokenize=True, return_dict=True, add_generation_prompt=True, chat_template=template, **options
        )
        return list(prompt["input_ids"])

    def turns(self, text: str, messages: list[Row], first: int, options: Row) -> Spans | None:
        """Character ranges of the assistant turns from `first` on, with all that the template writes for them.

        Returns:
            None when the conversation up to a turn isn't rendered as the beginning of `text`.
        """
        if exact := known.spans(self._tokenizer.chat_template, text, messages, options, first):
            return exact
        found: Spans = []
        for i, message in enumerate(messages):
            if i < first or message.get("role") != "assistant":
                continue
            start = self._beginning(messages[:i], options, add_generation_prompt=True)
            end = self._beginning(messages[: i + 1], options, add_generation_prompt=False)
            if (
                start is None
                or end is None
                or not text.startswith(start)
                or not text.startswith(end)
                or len(end) <= len(start)
            ):
                return None
            found.append((len(start), len(end)))
        return found

    def trimmed(self, text: str, spans: Spans) -> Spans:
        """Without the line break that a template puts after the end-of-turn token."""
        turns = [(a, text[a:b].rstrip(), b) for a, b in spans]
        return [(a, a + len(turn) if any(turn.endswith(end) for end in self._ends) else b) for a, turn, b in turns]

    def _beginning(self, messages: list[Row], options: Row, *, add_generation_prompt: bool) -> str | None:
        """None where the template refuses to render so little."""
        from jinja2 import TemplateError

        try:
            rendered = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=add_generation_prompt, **options
            )
        except (TemplateError, KeyError, IndexError, TypeError, ValueError):
            return None
        return str(rendered)


def options_of(row: Row) -> Row:
    """Tools and template arguments that a row brings along."""
    tools = row.get("tools")
    tools = json.loads(tools) if isinstance(tools, str) and tools.strip() else tools
    return {**({"tools": tools} if tools else {}), **(row.get("chat_template_kwargs") or {})}
