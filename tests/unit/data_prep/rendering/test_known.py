"""When a format that is written out stands for a template, and when the template's own word counts."""

from __future__ import annotations

from data_prep.rendering.known import known, spans
from data_prep.rendering.piece import text
from tests.unit.data_prep.rendering.test_glimmer_text import ANSWER, WRITTEN

TEMPLATE = "<|start|>assistant to=self<|message|> <atem:function_calls> # Valid recipients: "


def test_a_template_is_known_by_what_it_writes() -> None:
    form = known(TEMPLATE, {"reasoning_strength": "low", "tools": [], "enable_thinking": None})
    assert form is not None
    assert "Reasoning strength: low." in text(form.pieces([{"role": "user", "content": "?"}]))
    assert known("{{ messages }}") is None
    assert known(None) is None


def test_spans_are_told_only_for_what_was_rendered() -> None:
    found = spans(TEMPLATE, WRITTEN, ANSWER, {})
    assert found is not None
    assert len(found) == 2
    assert spans(TEMPLATE, WRITTEN, ANSWER, {}, first=3) == found[1:]
    assert spans(TEMPLATE, WRITTEN + "\n", ANSWER, {}) is None
    assert spans("{{ messages }}", WRITTEN, ANSWER, {}) is None


def test_what_the_format_refuses_has_no_spans() -> None:
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "sum", "arguments": "[2]"}}]}
    assert spans(TEMPLATE, WRITTEN, [call], {}) is None
