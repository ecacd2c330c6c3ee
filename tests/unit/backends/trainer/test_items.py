"""Items in both forms, and every row that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.trainer.items import ItemsError, read

USER = '{"role": "user", "content": "1+1"}'
ASSISTANT = '{"role": "assistant", "content": "2"}'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_bytes(text.encode())
    return path


def test_prompt_and_answer(tmp_path: Path) -> None:
    (item,) = read(write(tmp_path, '{"prompt": "1+1=", "answer": "2", "level": 3}'), needs_answer=True)
    assert (item.prompt, item.expected, item.columns) == ("1+1=", "2", {"level": 3})


def test_last_assistant_turn_is_the_answer(tmp_path: Path) -> None:
    (item,) = read(write(tmp_path, f'{{"messages": [{USER}, {ASSISTANT}]}}'), needs_answer=True)
    assert (item.prompt, item.expected) == ([{"role": "user", "content": "1+1"}], "2")


def test_typed_parts_and_tools_as_text(tmp_path: Path) -> None:
    parts = '{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}'
    row = f'{{"messages": [{USER}, {parts}], "tools": "[{{\\"name\\": \\"f\\"}}]"}}'
    (item,) = read(write(tmp_path, row), needs_answer=True)
    assert (item.expected, item.tools) == ("ab", [{"name": "f"}])


def test_blank_lines_byte_order_mark_and_limit(tmp_path: Path) -> None:
    row = '{"prompt": "x", "answer": "y"}\r\n'
    path = write(tmp_path, "\ufeff" + row + "\n" + row + "no JSON")
    assert len(read(path, needs_answer=True, limit=2)) == 2
    with pytest.raises(ItemsError, match=":4: not JSON"):
        read(path, needs_answer=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no items"),
        ("[1]", ":1: a row is a JSON object"),
        ("version https://git-lfs.github.com/spec/v1", "Git-LFS pointer"),
        ('{"question": "x"}', "neither `prompt` nor `messages`, but question"),
        ('{"prompt": "x"}', "`answer` is missing"),
        ('{"prompt": "x", "answer": 2}', "`answer` is int"),
        ('{"prompt": "x", "answer": " "}', "`answer` is empty"),
        ('{"prompt": "", "answer": "2"}', "text or a list of messages"),
        ('{"prompt": [], "answer": "2"}', "text or a list of messages"),
        ('{"prompt": [{"role": "user"}], "answer": "2"}', "needs `role` and `content`"),
        (f'{{"prompt": [{USER}, {ASSISTANT}], "answer": "2"}}', "ends on an assistant turn"),
        (f'{{"messages": [{USER}]}}', "the last message is not the assistant's"),
        (f'{{"messages": [{ASSISTANT}]}}', "the last message is not the assistant's"),
        ('{"prompt": [{"role": "user", "content": [{"type": "image"}]}], "answer": "2"}', "only text"),
        ('{"prompt": "x", "answer": "2", "tools": "nope"}', "`tools` is text that is no JSON"),
        (f'{{"prompt": "x", "answer": "2"}}\n{{"prompt": [{USER}], "answer": "2"}}', "mixes text prompts and chat"),
    ],
)
def test_rows_that_are_no_items(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ItemsError, match=message) as caught:
        read(write(tmp_path, text), needs_answer=True)
    assert caught.value.fix


def test_missing_file_and_wrong_encoding(tmp_path: Path) -> None:
    with pytest.raises(ItemsError, match="no such file"):
        read(tmp_path / "none.jsonl", needs_answer=True)
    (tmp_path / "latin.jsonl").write_bytes(b'{"prompt": "\xe9"}')
    with pytest.raises(ItemsError, match="can't be read"):
        read(tmp_path / "latin.jsonl", needs_answer=True)
