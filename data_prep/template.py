"""A model's chat template, run in a sandbox: conversations as the model sees them, and what of them gets loss."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from data_prep.needs import needed
from data_prep.rendering import known
from data_prep.rendering.piece import Spans
from data_prep.row import Message, RowFault

_ON, _OFF = "\ufdd0", "\ufdd1"
"""Marks around what the template says the assistant wrote: no characters, so no text holds them."""


class ChatTemplate:
    """Renders conversations.

    Args:
        source: the template's text.
        names: special tokens by name, as templates know them.

    Raises:
        DataFault: jinja2 is not installed.
    """

    def __init__(self, source: str, names: dict[str, str]) -> None:
        jinja2, sandbox = needed("jinja2", "a chat template is rendered"), needed("jinja2.sandbox", "a chat template")
        environment = sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _generation()]
        )
        environment.filters["tojson"] = _tojson
        environment.globals |= {"raise_exception": _refuse, "strftime_now": lambda form: datetime.now().strftime(form)}
        self._refusal, self._names = jinja2.TemplateError, names
        self._template = environment.from_string(source)
        self.source = source
        self._dated = "strftime_now" in source
        self._marked = "{% generation" in source or "{%- generation" in source

    @property
    def dated(self) -> bool:
        """Whether it can write today's date, so that tomorrow's tokens are others."""
        return self._dated

    def text(self, messages: list[Message], options: dict[str, Any], *, prompt: bool = False) -> str:
        """A conversation as text.

        Args:
            options: tools and arguments of the template.
            prompt: with the beginning of the assistant's next turn.

        Raises:
            RowFault: the template refuses it.
        """
        return self._run(messages, options, prompt=prompt).replace(_ON, "").replace(_OFF, "")

    def learned(self, messages: list[Message], options: dict[str, Any]) -> tuple[str, Spans | None]:
        """The text, and the ranges of it that the assistant wrote; None where nothing tells them.

        They are those that the template marks, else those of a format that we write ourselves, else those found by
        rendering the conversation up to each turn.

        Raises:
            RowFault: the template refuses it.
        """
        marked = self._run(messages, options, prompt=False)
        text = marked.replace(_ON, "").replace(_OFF, "")
        if self._marked:
            return text, _marks(marked)
        return text, known.spans(self.source, text, messages, options) or self._found(text, messages, options)

    def _found(self, text: str, messages: list[Message], options: dict[str, Any]) -> Spans | None:
        spans: Spans = []
        for number, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            try:
                start = self.text(messages[:number], options, prompt=True)
                end = self.text(messages[: number + 1], options)
            except RowFault:
                return None
            if not text.startswith(start) or not text.startswith(end) or len(end) <= len(start):
                return None
            spans.append((len(start), len(end)))
        return spans

    def _run(self, messages: list[Message], options: dict[str, Any], *, prompt: bool) -> str:
        try:
            rendered: str = self._template.render(
                messages=messages, add_generation_prompt=prompt, **{"tools": None, **self._names, **options}
            )
        except (self._refusal, KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise RowFault("template", f"the chat template can't render it: {error}") from None
        return rendered


def _marks(text: str) -> Spans:
    spans: Spans = []
    at = marks = 0
    while (start := text.find(_ON, at)) >= 0:
        end = text.index(_OFF, start)
        spans.append((start - marks, end - marks - 1))
        at, marks = end + 1, marks + 2
    return spans


def _generation() -> Any:
    """The statement `generation`, as training templates use it."""
    ext, nodes = needed("jinja2.ext", "a chat template"), needed("jinja2.nodes", "a chat template")

    def parse(self: Any, parser: Any) -> Any:
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("mark"), [], [], body).set_lineno(line)

    def mark(_self: Any, caller: Any) -> str:
        return f"{_ON}{caller()}{_OFF}"

    return type("Generation", (ext.Extension,), {"tags": {"generation"}, "parse": parse, "mark": mark})


def _tojson(value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, **more: Any) -> str:
    """JSON as it is, where jinja2's own filter would escape what HTML minds."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, **more)


def _refuse(message: str) -> None:
    raise needed("jinja2", "a chat template").TemplateError(message)
