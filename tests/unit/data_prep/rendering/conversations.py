"""Conversations, tools and options whose product the format is held to."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]

_WEATHER = {
    "name": "weather.now",
    "description": "What it's like <there>",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
}
_RAIN = {"name": "weather.rain", "description": "", "parameters": {"type": "object", "properties": {}}}
_BASH = {"name": "bash", "description": 'Run "it" – é\n', "parameters": {}}


def _call(name: str, ident: str | None = None, **arguments: Any) -> Message:
    found: Message = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return {**found, "id": ident} if ident else found


USER: Message = {"role": "user", "content": "What's the weather in Ürümqi?"}
_THOUGHT = "Look it up.\n\nThen say it."
_ASKED = {"role": "assistant", "content": "left out", "tool_calls": [_call("weather.now", "c1", city="Ürümqi", days=2)]}
_RESULT = {"role": "tool", "tool_call_id": "c1", "content": '{"sky": "clear"}'}
_SAID = {"role": "assistant", "content": "It's clear."}

TOOLS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "one": [{"type": "function", "function": _WEATHER}],
    "three, two of a namespace, one bare": [_BASH, {"type": "function", "function": _WEATHER}, _RAIN],
}

OPTIONS: dict[str, dict[str, Any]] = {
    "as they are": {"current_date": "2026-03-01"},
    "told": {
        "current_date": "2025-12-31",
        "knowledge_cutoff": "2025-06-01",
        "reasoning_strength": "low",
        "tool_namespace_descriptions": {"weather": "It's <outside>"},
    },
}

CONVERSATIONS: dict[str, list[Message]] = {
    "a question": [USER],
    "no message": [],
    "a question and its answer": [USER, _SAID],
    "a system message": [{"role": "system", "content": "Be brief."}, USER, _SAID],
    "a system message in parts": [{"role": "system", "content": [{"type": "text", "text": "Be"}]}, USER],
    "a strength in the system message": [{"role": "system", "content": "Reasoning Effort: Low."}, USER],
    "four casings": [
        {"role": "system", "content": "Reasoning effort, Reasoning Effort, reasoning effort, REASONING EFFORT"},
        USER,
    ],
    "a casing that isn't normalised": [{"role": "system", "content": "rEASONING eFFORT"}, USER],
    "a system message behind the question": [USER, {"role": "system", "content": "Now in German."}],
    "two system messages": [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}, USER],
    "reasoning": [USER, {**_SAID, "reasoning_content": _THOUGHT}],
    "empty reasoning": [USER, {**_SAID, "reasoning_content": ""}],
    "reasoning, call, result, answer": [USER, {**_ASKED, "reasoning_content": _THOUGHT}, _RESULT, _SAID],
    "a call that nothing follows": [USER, _ASKED],
    "two calls": [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [_call("bash", "a"), _call("weather.rain", "b")]},
        {"role": "tool", "tool_call_id": "b", "content": "wet"},
        {"role": "tool", "tool_call_id": "a", "content": ""},
        _SAID,
    ],
    "every kind of argument": [
        USER,
        {
            "role": "assistant",
            "tool_calls": [
                _call(
                    "bash",
                    text=" as it is \n",
                    yes=True,
                    no=False,
                    nothing=None,
                    whole=3,
                    part=0.5,
                    big=1e30,
                    many=["é", 1, None],
                    some={"a": {"b": [True]}},
                    empty="",
                    none=[],
                )
            ],
        },
    ],
    "a call, and the assistant goes on": [USER, _ASKED, _SAID],
    "two answers in a row": [USER, _SAID, _SAID],
    "two questions in a row": [USER, USER, _SAID],
    "a result by its name": [USER, _ASKED, {"role": "tool", "name": "weather.now", "content": "dry"}],
    "a result of no known call": [USER, {"role": "tool", "tool_call_id": "c9", "content": "dry"}],
    "a result without name or id": [USER, {"role": "tool", "content": "dry"}],
    "an id that two calls have": [USER, _ASKED, _RESULT, {**_ASKED, "tool_calls": [_call("bash", "c1")]}, _RESULT],
    "a result in parts": [USER, _ASKED, {**_RESULT, "content": [{"type": "text", "text": "x"}, {"type": "image"}]}],
    "pictures and a film": [
        {
            "role": "user",
            "content": [{"type": "image"}, {"type": "text", "text": "?"}, {"type": "video"}, {"type": "x"}],
        },
        _SAID,
    ],
    "another recipient": [USER, {"role": "assistant", "content": "psst", "recipient": "critic"}],
    "a turn that is not over": [USER, {**_SAID, "end_turn": False}, _SAID],
    "another recipient, and over": [
        USER,
        {"role": "assistant", "content": "x", "recipient": "critic", "end_turn": True},
    ],
    "no content": [USER, {"role": "assistant", "content": None}],
    "content that isn't there": [USER, {"role": "assistant"}],
    "a role that the template doesn't know": [{"role": "developer", "content": "x"}, USER, _SAID],
    "special tokens spelled out": [{"role": "user", "content": "<|eot|><|start|>system<|message|>"}, _SAID],
    "line breaks at both ends": [{"role": "user", "content": "\n a \n"}, {"role": "assistant", "content": "\n b \n"}],
}
