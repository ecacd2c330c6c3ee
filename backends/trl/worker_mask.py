"""SFT rows -> token ids and the mask of tokens that get loss.

Assistant turns are found by the template's own generation markers. Without them they are found by rendering: the
conversation up to a turn, with the generation prompt, must be the beginning of the whole conversation, and so must
the conversation up to and with that turn. A template that renders earlier turns differently once later ones follow
is refused, unless TRL knows a training twin of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backends.trl.worker_data import Row, form
from backends.trl.worker_template import Template, options_of
from data_prep.rendering.piece import Spans
from orchestrator.harness import WorkError


@dataclass(frozen=True)
class Tokens:
    """One row: token ids, for each whether it gets loss, and whether the row is plain text."""

    ids: list[int]
    loss: list[bool]
    plain: bool = False


@dataclass(frozen=True)
class Talk:
    """One row as a conversation: assistant turns from `first` on get loss."""

    messages: list[Row]
    first: int
    options: Row
    where: str


class Masker:
    """Tokenizes rows with one tokenizer.

    Attributes:
        dated_rows: conversations into which the template wrote today's date.
        twin_rows: rows that were rendered with TRL's training twin of the template.
    """

    def __init__(self, tokenizer: Any, loss_on: str) -> None:
        self._tokenizer, self._all, self._template = tokenizer, loss_on == "all", Template(tokenizer)
        self.twin_rows = self.dated_rows = 0

    def tokens(self, row: Row, where: str) -> Tokens:
        """Token ids and mask of one row.

        Args:
            where: which row it is, for messages.

        Raises:
            WorkError: the template can't render the row, or doesn't tell where its assistant turns are.
        """
        talk = conversation(row, where)
        if talk is None:
            return self._text(row.get("prompt", ""), row["completion"] if "completion" in row else row["text"])
        if not self._template.known:
            raise WorkError(
                "template.missing",
                f"{where}: a conversation, but the tokenizer has no chat template",
                fix="set native.config.chat_template_path to a .jinja file, or give prompt and completion as text",
            )
        self.dated_rows += self._template.dated and "current_date" not in talk.options
        return self._conversation(talk)

    def cross_check(self, row: Row, tokens: Tokens) -> None:
        """Hold markers against rendering, where both work.

        Raises:
            WorkError: the markers give loss to something that is no assistant turn.
        """
        talk = conversation(row, "")
        if talk is None or self._all or not self._template.marked:
            return
        text = self._template.text(talk.messages, talk.options, talk.where)
        spans = self._template.turns(text, talk.messages, talk.first, talk.options)
        if spans is None:
            return
        strays = [
            i
            for i, on, inside in zip(tokens.ids, tokens.loss, self._inside(text, spans)[1], strict=True)
            if on and not inside
        ]
        if strays:
            raise WorkError(
                "mask.user_turn",
                f"the chat template's generation markers give loss to text that no assistant wrote: "
                f"{self._tokenizer.decode(strays[:20])!r}",
                fix="put {% generation %} and {% endgeneration %} around the assistant's content and end-of-turn token",
            )

    def _text(self, prompt: str, completion: str) -> Tokens:
        """Plain text ends with the end token; what follows the prompt gets loss."""
        end = self._tokenizer.eos_token
        text = completion if completion.endswith(end) else completion + end
        ids = list(self._tokenizer(prompt + text)["input_ids"])
        before = 0 if self._all or not prompt else _common(list(self._tokenizer(prompt)["input_ids"]), ids)
        return Tokens(ids, [position >= before for position in range(len(ids))], plain=True)

    def _conversation(self, talk: Talk) -> Tokens:
        if self._template.marked and not self._all:
            return self._by_markers(talk, None)
        text = self._template.text(talk.messages, talk.options, talk.where)
        if self._all:
            return Tokens(*self._inside(text, [(0, len(text))]))
        spans = self._template.turns(text, talk.messages, talk.first, talk.options)
        if spans is None:
            return self._by_twin(talk)
        return Tokens(*self._inside(text, self._template.trimmed(text, spans)))

    def _inside(self, text: str, spans: Spans) -> tuple[list[int], list[bool]]:
        """Token ids of a rendered text, and for each whether it begins in a span."""
        encoded = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return list(encoded["input_ids"]), _begin_inside(encoded["offset_mapping"], spans)

    def _by_markers(self, talk: Talk, template: str | None) -> Tokens:
        ids, loss = self._template.marks(talk.messages, talk.options, template)
        before = 0
        if talk.first:
            before = _common(self._template.prompt_ids(talk.messages[: talk.first], talk.options, template), ids)
        return Tokens(ids, [bit and position >= before for position, bit in enumerate(loss)])

    def _by_twin(self, talk: Talk) -> Tokens:
        if self._template.twin is None:
            raise WorkError(
                "template.prefix",
                f"{talk.where}: the chat template has no usable generation markers, and doesn't render the "
                "conversation up to an assistant turn as the beginning of the whole conversation",
                why="nobody can tell which tokens the assistant wrote, or training shows what inference never shows",
                fix="give one row per assistant turn, add {% generation %} markers with "
                "native.config.chat_template_path, or set training.loss_on: all",
            )
        self.twin_rows += 1
        return self._by_markers(talk, self._template.twin)


def conversation(row: Row, where: str) -> Talk | None:
    """A row as a conversation; None when it is plain text."""
    keys = form(row)
    if keys == ("messages",):
        return Talk(row["messages"], 0, options_of(row), where)
    if keys == ("text",) or isinstance(row["completion"], str):
        return None
    prompt = row["prompt"]
    before = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    return Talk(before + list(row["completion"]), len(before), options_of(row), where)


def _begin_inside(offsets: Sequence[tuple[int, int]], spans: Spans) -> list[bool]:
    """A token of spaces only may have an empty range: at a span's start it belongs to what is before."""
    return [any(a <= s < b if s < e else a < s <= b for a, b in spans) for s, e in offsets]


def _common(ids: list[int], others: list[int]) -> int:
    """Leading tokens that two sequences share."""
    pairs = zip(ids, others, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ids), len(others)))
