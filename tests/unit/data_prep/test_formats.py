"""Every layout of rows becomes the canonical one, or says why not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Write

    from .conftest import Prepare

ASK, SAY = {"role": "user", "content": "a?"}, {"role": "assistant", "content": "b"}
BE = {"role": "system", "content": "be"}
HUMAN, GPT = {"from": "human", "value": "a?"}, {"from": "gpt", "value": "b"}
CHAT = {"messages": [ASK, SAY]}
CALL = {"type": "function", "function": {"name": "f", "arguments": {"x": 1}}}
CALLED = {"role": "assistant", "content": "", "tool_calls": [CALL]}
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "f", "description": "", "parameters": SCHEMA}}
PYTHON_TOOL = {"name": "f", "parameters": {"type": "dict", "properties": {"x": {"type": "int"}}}}


REASON = {"type": "reasoning", "value": "hm"}
SYSTEM, SEEN = {"from": "system", "value": "be"}, {"from": "observation", "value": "5"}
LIKED = {"prompt": [ASK], "completion": [SAY], "label": True}
OPENAI_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"x": 1}'}}],
}


def parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


WORSE = {"role": "assistant", "content": "c"}
PAIR = {"prompt": [ASK], "chosen": [SAY], "rejected": [WORSE]}
THOUGHT = {**SAY, "reasoning_content": "hm"}
CALL_TEXT, TOOLS = json.dumps({"name": "f", "arguments": {"x": 1}}), json.dumps([PYTHON_TOOL])
ANSWER = {"role": "tool", "content": "5", "name": "f"}
LAYOUTS: list[tuple[str, str, Any, Any]] = [
    ("messages", "sft", {"messages": [ASK, SAY], "id": 7}, CHAT),
    ("messages", "sft", [ASK, SAY], CHAT),
    ("messages", "sft", {"conversations": [ASK, SAY], "system": "be"}, {"messages": [BE, ASK, SAY]}),
    ("messages", "sft", {"messages": [{"role": "system", "content": ""}, ASK, SAY]}, CHAT),
    ("messages", "sft", {"messages": json.dumps([ASK, SAY])}, CHAT),
    ("messages", "sft", {"messages": [{"role": "user", "content": parts("a", "?")}, SAY]}, CHAT),
    ("messages", "sft", {"messages": [ASK, {**SAY, "content": [REASON, *parts("b")]}]}, {"messages": [ASK, THOUGHT]}),
    ("messages", "sft", {"messages": [ASK, THOUGHT]}, {"messages": [ASK, THOUGHT]}),
    ("messages", "sft", {"messages": [ASK, SAY, ASK]}, CHAT),
    ("messages", "grpo", {"messages": [BE, ASK, SAY]}, {"prompt": [BE, ASK], "answer": "b"}),
    ("sharegpt", "sft", {"conversations": [HUMAN, GPT]}, CHAT),
    ("sharegpt", "sft", {"conversation": [{**HUMAN, "from": "USER"}, {**GPT, "from": "ChatGPT"}]}, CHAT),
    ("sharegpt", "sft", {"conversations": [SYSTEM, HUMAN, GPT], "system": "be"}, {"messages": [BE, ASK, SAY]}),
    ("sharegpt", "sft", {"conversations": [HUMAN, {**GPT, "value": 7}]}, {"messages": [ASK, {**SAY, "content": "7"}]}),
    ("alpaca", "sft", {"instruction": "a?", "input": "", "output": "b"}, CHAT),
    ("alpaca", "sft", {"instruction": "a?", "output": "b", "system": "be"}, {"messages": [BE, ASK, SAY]}),
    ("alpaca", "sft", {"instruction": "a", "input": "?", "output": "b"},
     {"messages": [{**ASK, "content": "a\n\n?"}, SAY]}),
    ("alpaca", "sft", {"instruction": "a?", "input": "<noinput>", "output": "b"}, CHAT),
    ("alpaca", "sft", {"instruction": "a?", "output": "b", "history": [["a?", "b"]]}, {"messages": [ASK, SAY] * 2}),
    ("prompt_completion", "sft", {"prompt": "a?", "completion": "b"}, CHAT),
    ("prompt_completion", "sft", {"prompt": [BE, ASK], "completion": [SAY]}, {"messages": [BE, ASK, SAY]}),
    ("prompt_completion", "sft", {"question": "a?", "response": "b"}, CHAT),
    ("preference", "dpo", {"prompt": "a?", "chosen": "b", "rejected": "c"}, PAIR),
    ("preference", "dpo", {"chosen": [ASK, SAY], "rejected": [ASK, WORSE]}, PAIR),
    ("preference", "dpo", {"prompt": "a?", "chosen": [ASK, SAY], "rejected": [ASK, WORSE]}, PAIR),
    ("preference", "dpo", {"conversations": [HUMAN], "chosen": GPT, "rejected": {**GPT, "value": "c"}}, PAIR),
    ("preference", "dpo", {"chosen_messages": [ASK, SAY], "rejected_messages": [ASK, WORSE]}, PAIR),
    ("preference", "dpo", PAIR, PAIR),
    ("preference", "sft", {"prompt": "a?", "chosen": "b", "rejected": "c"}, CHAT),
    ("kto", "kto", {"prompt": "a?", "completion": "b", "label": False}, LIKED | {"label": False}),
    ("kto", "kto", {"messages": [ASK, SAY], "kto_tag": True}, LIKED),
    ("kto", "kto", LIKED, LIKED),
    ("gsm8k", "grpo", {"question": "a?", "answer": "so <<1+1=2>>2\n#### 1,234"}, {"prompt": [ASK], "answer": "1234"}),
    ("gsm8k", "sft", {"question": "a?", "answer": "so\n#### 2"}, {"messages": [ASK, {**SAY, "content": "so\n#### 2"}]}),
    ("math", "grpo", {"problem": "a?", "solution": "so \\boxed{x^{2}}."}, {"prompt": [ASK], "answer": "x^{2}"}),
    ("verl", "grpo", {"prompt": [ASK], "reward_model": {"ground_truth": "72"}}, {"prompt": [ASK], "answer": "72"}),
    ("question_answer", "eval", {"question": "a?", "answer": "b"}, {"prompt": [ASK], "answer": "b"}),
    ("question_answer", "sft", {"question": "a?", "answer": "b"}, CHAT),
    ("prompt", "grpo", {"prompt": "a?"}, {"prompt": [ASK]}),
    ("bfcl", "grpo", {"question": [[ASK]], "function": [PYTHON_TOOL]}, {"prompt": [ASK], "tools": [TOOL]}),
    ("xlam", "sft", {"query": "a?", "tools": TOOLS, "answers": f"[{CALL_TEXT}]"},
     {"messages": [ASK, CALLED], "tools": [TOOL]}),
    ("sharegpt", "sft",
     {"conversations": [HUMAN, {"from": "function_call", "value": CALL_TEXT}, SEEN, GPT], "tools": TOOLS},
     {"messages": [ASK, CALLED, ANSWER, SAY], "tools": [TOOL]}),
    ("messages", "sft", {"messages": [ASK, OPENAI_CALL, {**ANSWER, "tool_call_id": "1"}, SAY], "tools": []},
     {"messages": [ASK, {**CALLED, "tool_calls": [{"id": "1", **CALL}]}, {**ANSWER, "tool_call_id": "1"}, SAY]}),
    ("text", "sft", {"text": "a"}, {"text": "a"}),
    ("pretrain", "sft", {"messages": [{"role": "pretrain", "content": "a"}]}, {"text": "a"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "use", "row", "canonical"), LAYOUTS)
def test_a_layout(write: Write, make: Prepare, name: str, use: str, row: Any, canonical: dict[str, Any]) -> None:
    made = make(write("d.jsonl", [row]), use=use)
    (found,) = made.rows()
    if "tools" in found:
        found["tools"] = json.loads(found["tools"])
    assert found == canonical
    assert (made.manifest.format, made.manifest.use) == (name, use)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"messages": [ASK, {"role": "bot9", "content": "b"}]}], "role"),
        ([{"messages": [ASK, {"role": "assistant", "content": " "}]}], "empty_turn"),
        ([{"messages": [ASK, {"role": "assistant", "content": None}]}], "not_text"),
        ([{"messages": [ASK, ASK, SAY]}], "role_order"),
        ([{"messages": [SAY, ASK, SAY]}], "role_order"),
        ([{"messages": [ASK, SAY, BE]}], "role_order"),
        ([{"messages": [ASK, {"role": "tool", "content": "5"}, SAY]}], "role_order"),
        ([{"messages": [ASK]}], "no_answer"),
        ([{"messages": [ASK, {**SAY, "weight": 0}]}], "weight"),
        ([{"messages": []}], "not_turns"),
        ([{"messages": "hello"}], "no_answer"),
        ([{"messages": [ASK, SAY], "tools": "[{"}], "bad_json"),
        ([{"messages": [ASK, SAY], "tools": [{"x": 1}]}], "bad_tools"),
        ([{"messages": [ASK, {**CALLED, "tool_calls": [{"name": "f", "arguments": "[1]"}]}]}], "bad_call"),
        ([{"messages": [{"role": "user", "content": [{"type": "hologram"}]}, SAY]}], "bad_part"),
        ([{"messages": [{"role": "user", "content": [{"type": "video", "video": "x.mp4"}]}, SAY]}], "media"),
        ([{"messages": [ASK, SAY], "audios": ["x.mp3"]}], "media"),
        ([{"conversations": [{"from": "system", "value": "be"}, HUMAN, GPT], "system": "other"}], "two_systems"),
        ([{"prompt": "a?", "chosen": "b", "rejected": "b"}], "same"),
        ([{"prompt": "a?", "chosen": "b", "rejected": ""}], "empty_turn"),
        ([{"chosen": [SAY], "rejected": [SAY]}], "no_prompt"),
        ([{"prompt": "x", "chosen": [ASK, SAY], "rejected": [ASK, SAY]}], "no_prompt"),
        ([{"prompt": "a?", "completion": "b", "label": "maybe"}], "label"),
        ([{"problem": "a?", "solution": "none"}], "no_final"),
        ([{"prompt": [ASK], "reward_model": {}}], "no_final"),
        ([{"text": 5.5}, {"text": " "}], "empty_turn"),
        ([{"instruction": "a?", "output": ["b"]}], "not_text"),
        ([{"text": "a"}, {"prompt": "a", "completion": "b"}], "other_format"),
        ([{"text": "a"}, {"colour": "red"}], "columns"),
    ],
)  # fmt: skip
def test_a_row_that_can_not_be_used_is_told(write: Write, make: Prepare, rows: list[Any], reason: str) -> None:
    good = {"text": "kept"} if "text" in rows[0] else None
    path = write("d.jsonl", [*rows, *([good] if good else [])])
    if good is None:
        from data_prep.faults import DataFault

        with pytest.raises(DataFault) as caught:
            make(path)
        assert f"({reason} 1)" in caught.value.what
        assert caught.value.where == f"{path}:1"
        return
    made = make(path)
    bad = [(place, action, why) for place, action, why in made.ledger() if action == "dropped"]
    assert bad == [("d.jsonl:2", "dropped", reason)]


def test_changes_are_told_and_rows_are_kept(write: Write, make: Prepare) -> None:
    rows = [
        {"conversations": [HUMAN, {"from": "gpt", "value": 7}]},
        {"conversations": [{"from": "system", "value": " "}, HUMAN, GPT]},
        {"conversations": [HUMAN, {"from": "gpt", "value": "c"}, HUMAN]},
    ]
    made = make(write("d.jsonl", rows))
    told = [
        ("d.jsonl:1", "changed", "number"),
        ("d.jsonl:2", "changed", "empty_system"),
        ("d.jsonl:3", "changed", "unanswered"),
    ]
    assert made.ledger() == told
    counts = made.manifest.counts
    assert (counts.rows, counts.kept, counts.changed) == (3, 3, 3)


def test_columns_may_be_named_and_kept(write: Write, make: Prepare) -> None:
    from data_prep.columns import Columns, parse

    rows = [{"ask": {"text": "a?"}, "reply": "b", "level": 3, "other": 1}]
    columns = Columns(parse("prompt=ask.text,completion=reply"), ("level",))
    assert make(write("d.jsonl", rows), columns=columns).rows() == [{**CHAT, "level": 3}]
