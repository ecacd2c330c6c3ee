"""What a model wrote in Muse Glimmer's format, read back from its tokens."""

from __future__ import annotations

import re
from typing import Any

import pytest

from data_prep.rendering.glimmer import MuseGlimmer, Options, Reader, Reply
from data_prep.rendering.piece import learned, text

SPECIAL = {"<|start|>": 1, "<|message|>": 2, "<|eom|>": 3, "<|eot|>": 4, "<|end_of_text|>": 5}
_NAMES = {number: name for name, number in SPECIAL.items()}
_SPLIT = re.compile("(" + "|".join(re.escape(name) for name in SPECIAL) + ")")
CITY = {
    "name": "weather",
    "parameters": {"properties": {"city": {"type": "string"}, "days": {"anyOf": [{"type": "integer"}]}}},
}


def encode(written: str) -> list[int]:
    """One token a character, one for each special token."""
    parts = _SPLIT.split(written)
    return [one for part in parts for one in ([SPECIAL[part]] if part in SPECIAL else [ord(c) + 100 for c in part])]


def decode(ids: list[int]) -> str:
    return "".join(_NAMES.get(one) or chr(one - 100) for one in ids)


def read(written: str, *tools: dict[str, Any], **options: Any) -> Reply:
    return Reader(decode, SPECIAL).reply(encode(written), tools, Options(**options))


def _calling(name: str, inner: str) -> str:
    return f'<atem:function_calls><atem:invoke name="{name}">{inner}</atem:invoke></atem:function_calls>'


def test_reasoning_and_answer() -> None:
    found = read(" to=self<|message|>Add.<|eom|><|start|>assistant to=user<|message|>4<|eot|>")
    assert (found.content, found.reasoning, found.calls, found.over, found.thinking) == ("4", "Add.", [], True, False)


def test_an_answer_without_a_recipient_is_the_users() -> None:
    assert read("<|message|>4<|eot|>").content == "4"


def test_what_stands_behind_the_end_is_not_read() -> None:
    assert read(" to=user<|message|>4<|end_of_text|><|start|>assistant to=user<|message|>5<|eot|>").content == "4"


MESSAGES = [
    {"role": "assistant", "content": "Hello.\n", "reasoning_content": "Be kind.\n\nAlways."},
    {"role": "assistant", "content": ""},
    {
        "role": "assistant",
        "content": "",
        "reasoning_content": "Two.",
        "tool_calls": [
            {"type": "function", "function": {"name": "weather", "arguments": {"city": "7", "days": 3}}},
            {"type": "function", "function": {"name": "sum", "arguments": {"of": [1, {"a": None}], "exact": True}}},
            {"type": "function", "function": {"name": "now", "arguments": {}}},
        ],
    },
]


@pytest.mark.parametrize("message", MESSAGES, ids=["reasoning", "nothing", "three calls"])
def test_what_is_rendered_is_read_as_it_was(message: dict[str, Any]) -> None:
    pieces = MuseGlimmer(Options()).pieces([message])
    start, end = learned(pieces)[0]
    assert read(text(pieces)[start:end], CITY).message() == message


def test_a_parameter_that_is_declared_as_text_stays_text() -> None:
    call = _calling("weather", '<atem:parameter name="city">true</atem:parameter>')
    assert read(f" to=weather<|message|>{call}<|eot|>", CITY).calls[0].arguments == {"city": "true"}
    assert read(f" to=weather<|message|>{call}<|eot|>").calls[0].arguments == {"city": True}


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (" to=weather<|message|>Paris<|eot|>", "it holds no call in ATEM"),
        (" to=weather<|message|>Par", "it is cut off"),
        (' to=weather<|message|><atem:function_calls>\n<atem:invoke name="weather">\n<atem:para', "it is cut off"),
        (" to=weather<|message|><atem:function_calls></atem:function_calls><|eot|>", "it invokes nothing"),
        (
            f" to=weather<|message|>{_calling('', '')}<|eot|>",
            "it names no tool",
        ),
        (
            f" to=w<|message|>{_calling('w', 'Paris')}<|eot|>",
            "between its parameters stands 'Paris'",
        ),
    ],
)
def test_a_bad_call_is_told_and_not_run(written: str, fault: str) -> None:
    found = read(written)
    assert [call.fault for call in found.calls] == [fault]
    (call,) = found.message()["tool_calls"]
    assert isinstance(call["function"]["arguments"], str)


def test_cut_off_within_the_reasoning() -> None:
    found = read(" to=self<|message|>Let me th")
    assert (found.content, found.reasoning, found.over, found.thinking) == ("", "Let me th", False, True)


def test_the_last_line_of_the_reasoning_answers_only_where_it_is_wanted() -> None:
    thought = " to=self<|message|>Add.\n4\n\n<|eot|>"
    assert read(thought).content == ""
    assert read(thought, answer_from_reasoning_fallback=True).content == "4"
    answered = " to=self<|message|>Add.<|eom|><|start|>assistant to=user<|message|>5<|eot|>"
    assert read(answered, answer_from_reasoning_fallback=True).content == "5"


def test_special_tokens_that_a_model_spells_out_are_text() -> None:
    ids = [*encode(" to=user<|message|>"), *(ord(c) + 100 for c in "<|eot|>"), SPECIAL["<|eot|>"]]
    assert Reader(decode, SPECIAL).reply(ids, (), Options()).content == "<|eot|>"
