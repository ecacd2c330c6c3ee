"""Data files: every fault with its line, and every sound file as it is."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data_prep.check import check
from data_prep.faults import DataFault
from data_prep.forms import Use

if TYPE_CHECKING:
    from tests.conftest import Write

GOOD = b'{"prompt": "a", "completion": "b"}'
ASK, SAY = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}


def fault(path: Path, use: Use = "sft") -> DataFault:
    with pytest.raises(DataFault) as caught:
        check(path, use)
    return caught.value


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD + b"\n",
        b"\xef\xbb\xbf" + GOOD + b"\n",
        GOOD + b"\r\n",
        b"\n\n  \n" + GOOD + b"\n\n",
        b'{"prompt": "\\ud83d\\ude00", "completion": "\xf0\x9f\x98\x80 \xe4\xb8\xa4"}',
        b'{"prompt": "a\\\\ud800 is text", "completion": "b"}',
        b'{"prompt": "' + b"x" * 10_000_000 + b'", "completion": "b"}',
    ],
    ids=["no newline", "plain", "BOM", "CRLF", "blank lines", "emoji", "escaped escape", "10 MB line"],
)
def test_a_sound_file(write: Write, content: bytes) -> None:
    facts = check(write("d.jsonl", content), "sft")
    assert (facts.rows, facts.form) == (1, "prompt+completion")
    assert facts.digest == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"", None, "holds no row"),
        (b"\n \n", None, "holds no row"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", 1, "Git-LFS pointer"),
        (b"<!DOCTYPE html><html>", 1, "HTML page"),
        (b"\n <html>", 1, "HTML page"),
        (b'[{"prompt": "a"}]', 1, "JSON array"),
        (b"\xef\xbb\xbf[1]", 1, "JSON array"),
        (b"PAR1\x00", 1, "Parquet"),
        (b"\x1f\x8b\x08", 1, "compressed"),
        (GOOD + b'\n{"prompt": NaN}\n', 2, "NaN is not JSON"),
        (GOOD + b'\n{"prompt": -Infinity}\n', 2, "-Infinity is not JSON"),
        (GOOD + b'\n{"prompt": "\\ud800", "completion": "b"}\n', 2, "surrogate"),
        (GOOD + b'\n{"prompt": "a", "completion": "b\\uDFFF"}\n', 2, "surrogate"),
        (GOOD + b'\n{"prompt": "\xe4", "completion": "b"}\n', 2, "not UTF-8 at byte 12"),
        ('{"prompt": "a"}'.encode("utf-16"), 1, "not UTF-8 at byte 0"),
        (GOOD + b"\n" + GOOD[:-5], 2, "not JSON"),
        (GOOD + b"\n\n" + GOOD + GOOD, 3, "not JSON: Extra data at column 35"),
        (b'{"a":' * 100_000, 1, "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", 1, "not JSON"),
        (GOOD + b"\n5\n", 2, "a row is a JSON object, not int"),
        (GOOD + b"\nnull\n", 2, "a row is a JSON object, not NoneType"),
        (b'{"text": ["a"]}', 1, "`text` must be non-empty text"),
        (b'{"question": "a"}', 1, "sft wants rows with `messages` or `prompt` + `completion` or `text`;"),
        (b"{}", 1, "this one has nothing"),
        (GOOD + b'\n{"messages": []}\n', 2, "the column `prompt` of the rows above is missing here"),
        (GOOD + b'\n{"prompt": "a"}\n', 2, "the column `completion` of the rows above is missing here"),
        (b'{"prompt": " ", "completion": "b"}', 1, "`prompt` is empty"),
        (b'{"prompt": 5, "completion": "b"}', 1, "`prompt` must be a non-empty list of messages"),
    ],
)  # fmt: skip
def test_a_fault_names_its_line(write: Write, content: bytes, line: int | None, words: str) -> None:
    path = write("d.jsonl", content)
    found = fault(path)
    assert words in found.what
    assert found.where == (f"{path}:{line}" if line else str(path))


@pytest.mark.parametrize(
    ("use", "row", "words"),
    [
        ("sft", {"messages": [ASK]}, "no assistant turn"),
        ("sft", {"messages": "a"}, "non-empty list of messages"),
        ("sft", {"messages": [ASK, {"role": "bot", "content": "b"}]}, "`messages[1].role` is 'bot'; one of assistant"),
        ("sft", {"messages": [ASK, {"content": "b"}]}, "`messages[1]` must be an object with `role`"),
        ("sft", {"messages": [ASK, {"role": "assistant"}]}, "`messages[1].content` must be text"),
        ("sft", {"messages": [{"role": "user", "content": [1]}, SAY]}, "`messages[0].content` must be text"),
        ("sft", {"messages": [ASK, {"role": "assistant", "content": []}]}, "`messages[1].content` must be text"),
        ("sft", {"messages": [ASK, {"role": "assistant", "content": [{"text": "b"}]}]}, "a list of typed parts"),
        ("dpo", {"prompt": "a", "chosen": "b", "rejected": "b"}, "the same, so there is no preference"),
        ("dpo", {"prompt": "a", "chosen": "b"}, "dpo wants rows with `chosen` + `rejected`"),
        ("dpo", {"prompt": "", "chosen": "b", "rejected": "c"}, "`prompt` is empty"),
        ("grpo", {"question": "a"}, "grpo wants rows with `prompt`"),
        ("grpo", {"prompt": [{"role": "user"}]}, "`prompt[0].content` must be text"),
        ("eval", {"prompt": "a", "answer": 5}, "`answer` must be text, not int"),
        ("eval", {"messages": [SAY, ASK]}, "must end with the expected answer"),
    ],
)
def test_a_row_that_its_use_cannot_take(write: Write, use: Use, row: dict[str, Any], words: str) -> None:
    path = write("d.jsonl", [row])
    found = fault(path, use)
    assert words in found.what
    assert found.where == f"{path}:1"


@pytest.mark.parametrize(
    ("use", "row", "form"),
    [
        ("sft", {"messages": [ASK, SAY]}, "messages"),
        ("sft", {"messages": [ASK, {"role": "assistant", "tool_calls": [{}]}]}, "messages"),
        ("sft", {"messages": [ASK, {"role": "assistant", "content": [{"type": "text", "text": "b"}]}]}, "messages"),
        ("sft", {"prompt": [ASK], "completion": [SAY]}, "prompt+completion"),
        ("sft", {"text": "a"}, "text"),
        ("dpo", {"prompt": "a", "chosen": "b", "rejected": "c"}, "chosen+rejected"),
        ("dpo", {"chosen": [ASK, SAY], "rejected": [ASK, ASK]}, "chosen+rejected"),
        ("grpo", {"prompt": [ASK], "level": 3}, "prompt"),
        ("eval", {"prompt": "a", "answer": ""}, "prompt+answer"),
        ("eval", {"messages": [ASK, SAY]}, "messages"),
    ],
)  # fmt: skip
def test_a_row_that_is_sound(write: Write, use: Use, row: dict[str, Any], form: str) -> None:
    assert check(write("d.jsonl", [row]), use).form == form


def test_the_first_five_rows_at_fault_are_named(write: Write) -> None:
    path = write("d.jsonl", [{"prompt": "a", "completion": "b"}, *[{"prompt": "", "completion": "b"}] * 20])
    found = fault(path)
    assert found.where == f"{path}:2"
    assert [other.partition(": ")[0] for other in found.others] == [f"{path}:{n}" for n in (3, 4, 5, 6)]
    assert found.why


def test_what_is_no_file(work: Path) -> None:
    assert "no such data file" in fault(work / "none.jsonl").what
    assert "a folder that is no prepared data" in fault(work).what
    os.mkfifo(work / "pipe")
    assert "a pipe or device" in fault(work / "pipe").what
    assert "a pipe or device" in fault(Path("/dev/zero")).what


def test_long_files_tell_how_far_they_are(write: Write) -> None:
    told: list[int] = []
    row = json.dumps({"text": "a"}) + "\n"
    assert check(write("d.jsonl", row * 40_001), "sft", told.append).rows == 40_001
    assert told == [20_000, 40_000]
