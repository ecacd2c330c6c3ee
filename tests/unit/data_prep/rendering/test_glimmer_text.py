"""Muse Glimmer's format beside the model's own chat template, and spelled out."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from data_prep.rendering.glimmer import MuseGlimmer, Options, Unrenderable
from data_prep.rendering.piece import learned, text
from data_prep.template import ChatTemplate
from tests.unit.data_prep.rendering.conversations import CONVERSATIONS, OPTIONS, TOOLS, USER

PUBLISHED = Path(__file__).parents[5] / "shared/tok/muse_glimmer/chat_template.jinja"
CASES = list(product(CONVERSATIONS, TOOLS, OPTIONS, [True, False]))


@pytest.fixture(scope="module")
def template() -> ChatTemplate:
    if not PUBLISHED.is_file():
        pytest.skip("the published chat template is not here")
    return ChatTemplate(PUBLISHED.read_text(encoding="utf-8"), {"bos_token": "<|begin_of_text|>"})


@pytest.mark.parametrize(("said", "tools", "told", "prompt"), CASES)
def test_byte_by_byte(template: ChatTemplate, said: str, tools: str, told: str, prompt: bool) -> None:
    messages, options = CONVERSATIONS[said], OPTIONS[told]
    ours = MuseGlimmer(Options.of(options)).pieces(messages, TOOLS[tools], prompt=prompt)
    assert text(ours) == template.text(messages, {**options, "tools": TOOLS[tools] or None}, prompt=prompt)


def test_today_stands_where_no_date_is_told(template: ChatTemplate) -> None:
    assert text(MuseGlimmer(Options()).pieces([USER])) == template.text([USER], {})


@pytest.mark.parametrize(
    "call",
    [{"function": {"name": "bash", "arguments": '{"a": 1}'}}, {"name": "bash", "arguments": {}}],
    ids=["arguments as text", "no function"],
)
def test_what_the_template_refuses_is_refused(call: dict[str, Any]) -> None:
    with pytest.raises(Unrenderable):
        MuseGlimmer(Options()).pieces([USER, {"role": "assistant", "tool_calls": [call]}])


def test_a_tool_without_a_schema_is_refused() -> None:
    with pytest.raises(Unrenderable, match="'bash' has no parameters"):
        MuseGlimmer(Options()).pieces([USER], [{"name": "bash", "description": ""}])


ANSWER: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2+2?"},
    {
        "role": "assistant",
        "reasoning_content": "Add.",
        "tool_calls": [{"function": {"name": "sum", "arguments": {"of": [2, 2]}}}],
    },
    {"role": "tool", "name": "sum", "content": "4"},
    {"role": "assistant", "content": "4"},
]
WRITTEN = """\
<|begin_of_text|><|start|>system<|message|>Be brief.

Reasoning strength: high.

# Valid recipients: "self", "user".<|eot|><|start|>user<|message|>2+2?<|eot|>\
<|start|>assistant to=self<|message|>Add.<|eom|><|start|>assistant to=sum<|message|><atem:function_calls>
<atem:invoke name="sum">
<atem:parameter name="of">[2, 2]</atem:parameter>
</atem:invoke>
</atem:function_calls><|eot|><|start|>tool sum<|message|><tool_output name="sum">
4
</tool_output><|eot|><|start|>assistant to=user<|message|>4<|eot|>"""


def test_spelled_out() -> None:
    assert text(MuseGlimmer(Options()).pieces(ANSWER)) == WRITTEN


def test_loss_is_on_what_is_written_behind_the_generation_prompt() -> None:
    spans = learned(MuseGlimmer(Options()).pieces(ANSWER))
    first, second = (WRITTEN[start:end] for start, end in spans)
    assert first.startswith(" to=self<|message|>Add.<|eom|><|start|>assistant to=sum<|message|><atem:")
    assert first.endswith("</atem:function_calls><|eot|>")
    assert second == " to=user<|message|>4<|eot|>"


def test_loss_from_a_message_on() -> None:
    spans = learned(MuseGlimmer(Options()).pieces(ANSWER), first=3)
    assert [WRITTEN[start:end] for start, end in spans] == [" to=user<|message|>4<|eot|>"]


def test_reasoning_is_dropped_from_turns_that_others_follow() -> None:
    options = Options(retain_reasoning_in_history=False)
    assert text(MuseGlimmer(options).pieces(ANSWER)) == WRITTEN.replace(
        "<|start|>assistant to=self<|message|>Add.<|eom|>", ""
    )
    last = [*ANSWER[:2], {"role": "assistant", "content": "4", "reasoning_content": "Add."}]
    assert "to=self" in text(MuseGlimmer(options).pieces(last))


def test_a_dropped_thought_leaves_the_call_as_the_first_block() -> None:
    spans = learned(MuseGlimmer(Options(retain_reasoning_in_history=False)).pieces(ANSWER))
    rendered = text(MuseGlimmer(Options(retain_reasoning_in_history=False)).pieces(ANSWER))
    assert rendered[slice(*spans[0])].startswith(" to=sum<|message|>")


def test_a_bridge_is_what_rendering_all_of_it_would_add() -> None:
    form = MuseGlimmer(Options())
    bridge = form.bridge(ANSWER[3:4])
    assert bridge is not None
    assert text(form.pieces(ANSWER[:3])) + text(bridge) == text(form.pieces(ANSWER[:4], prompt=True))


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        ([], Options()),
        ([{"role": "assistant", "content": "x"}], Options()),
        ([{"role": "tool", "tool_call_id": "1", "content": "x"}], Options()),
        ([{"role": "user", "content": "x"}], Options(retain_reasoning_in_history=False)),
    ],
    ids=["nothing follows", "an assistant's turn", "a result without a name", "reasoning to drop"],
)
def test_no_bridge_where_only_all_of_it_tells(messages: list[dict[str, Any]], options: Options) -> None:
    assert MuseGlimmer(options).bridge(messages) is None
