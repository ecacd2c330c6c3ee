"""Tool calls of TitanRL's parser, as tasks and renderers take them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from backends.titanrl.worker_calls import mapped, unwrap
from orchestrator.tasks.message import calls


def parsed(**parts: Any) -> Any:
    """As the library `renderers` has it: an object, not a dictionary."""
    return SimpleNamespace(**{"raw": "raw", "name": "sum", "arguments": {"a": 1}, "status": "ok", "id": None, **parts})


def test_a_task_reads_the_calls() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [parsed(id="c1"), parsed(arguments='{"a": 2}')]}
    assert unwrap(message) is message, "TitanRL renders this very message again"
    assert [(call.id, call.name, call.arguments, call.fault) for call in calls(message)] == [
        ("c1", "sum", {"a": 1}, None),
        ("", "sum", {"a": 2}, None),
    ]


def test_a_task_is_told_of_a_call_that_could_not_be_read() -> None:
    (call,) = calls(unwrap({"role": "assistant", "tool_calls": [parsed(status="invalid_json", raw="{a", name=None)]}))
    assert call.name == ""
    assert call.fault is not None
    assert "not JSON" in call.fault


def test_arguments_become_objects_and_what_is_none_is_left_out() -> None:
    message = {"role": "assistant", "tool_calls": [parsed(), parsed(status="invalid_json", raw="{a")]}
    assert [call["function"]["arguments"] for call in mapped(message)["tool_calls"]] == [{"a": 1}]
    assert not isinstance(message["tool_calls"][0], dict), "a copy"


def test_a_message_without_calls_stays() -> None:
    assert mapped({"role": "user", "content": "x"}) == {"role": "user", "content": "x"}
