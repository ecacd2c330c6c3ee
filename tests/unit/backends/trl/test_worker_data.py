"""Rows are read whole, or refused with file and line; masks are counted before a step is taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backends.trl.worker_data import form, read_rows
from backends.trl.worker_file import read
from backends.trl.worker_mask import Tokens
from backends.trl.worker_mask_check import Census
from orchestrator.events import EventReader, EventWriter
from orchestrator.harness import WorkError

CHAT = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
END = 2


def write(path: Path, *rows: Any) -> str:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def test_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", "\ufeff" + json.dumps(CHAT), "", {"text": "c"})
    rows = read_rows(path, "SFTTrainer")
    assert [form(row) for row in rows] == [("messages",), ("text",)]
    assert len(read_rows(path, "SFTTrainer", 1)) == 1


@pytest.mark.parametrize(
    ("trainer", "row", "code"),
    [
        ("SFTTrainer", '{"messages": [', "data.json"),
        ("SFTTrainer", "[1]", "data.json"),
        ("SFTTrainer", {"conversation": []}, "data.form"),
        ("SFTTrainer", {"prompt": "a"}, "data.form"),
        ("SFTTrainer", {"text": None}, "data.form"),
        ("DPOTrainer", {"prompt": "a", "chosen": "b"}, "data.form"),
        ("GRPOTrainer", {"question": "a"}, "data.form"),
        ("SFTTrainer", {**CHAT, "images": ["a.png"]}, "data.images"),
        ("SFTTrainer", {"messages": [{"role": "user", "content": [{"type": "image", "path": "a"}]}]}, "data.images"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, trainer: str, row: Any, code: str) -> None:
    good = {"SFTTrainer": CHAT, "DPOTrainer": {"chosen": "a", "rejected": "b"}, "GRPOTrainer": {"prompt": "a"}}[trainer]
    with pytest.raises(WorkError) as caught:
        read_rows(write(tmp_path / "rows.jsonl", good, row), trainer)
    assert caught.value.code == code
    assert "rows.jsonl:2" in caught.value.message


@pytest.mark.parametrize(("content", "code"), [(b"", "data.empty"), (b"\xff\xfe\x00", "data.unreadable")])
def test_a_bad_file(tmp_path: Path, content: bytes, code: str) -> None:
    (tmp_path / "rows.jsonl").write_bytes(content)
    with pytest.raises(WorkError) as caught:
        read_rows(str(tmp_path / "rows.jsonl"), "SFTTrainer")
    assert caught.value.code == code


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WorkError, match=r"nowhere\.jsonl"):
        read_rows(str(tmp_path / "nowhere.jsonl"), "SFTTrainer")


def judge(tmp_path: Path, *rows: Tokens, length: int | None = 8) -> list[str]:
    census = Census("assistant", {END}, length)
    for row in rows:
        census.take(row)
    census.judge("rows", EventWriter(tmp_path / "events.jsonl"))
    return [event["code"] for event in EventReader(tmp_path / "events.jsonl").new()]


GOOD = Tokens([5, 6, 7, END], [False, False, True, True])
LONG = Tokens([5] * 8 + [7, END], [False] * 8 + [True, True])
CUT = Tokens([5] * 6 + [7, 7, 7, END], [False] * 6 + [True] * 4)
SILENT = Tokens([5, 6], [False, False])


def test_masks_that_teach(tmp_path: Path) -> None:
    assert judge(tmp_path, *[GOOD] * 10) == []


def test_a_few_lost_answers_are_counted(tmp_path: Path) -> None:
    assert judge(tmp_path, *[GOOD] * 18, LONG, CUT) == ["mask.truncated"]
    assert judge(tmp_path / ".", *[GOOD] * 10, SILENT)[-1] == "mask.silent"


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([GOOD] * 8 + [LONG] * 2, "mask.empty"),
        ([SILENT] * 3, "mask.empty"),
        ([Tokens([5, END], [True, True])] * 2, "mask.everything"),
        ([Tokens([5, 7], [False, True])] * 2, "mask.no_end"),
    ],
)
def test_masks_that_don_t(tmp_path: Path, rows: list[Tokens], code: str) -> None:
    with pytest.raises(WorkError) as caught:
        judge(tmp_path, *rows)
    assert caught.value.code == code


def test_plain_text_may_have_loss_everywhere(tmp_path: Path) -> None:
    assert judge(tmp_path, Tokens([5, END], [True, True], plain=True)) == []


def test_native_files(tmp_path: Path) -> None:
    sections = {"trainer": "SFTTrainer", "config": {}, "model": {"path": "m"}, "data": {}, "output": {}}
    assert read(Path(write(tmp_path / "a.yaml", sections))).peft is None
    for broken in ({**sections, "extra": 1}, {"trainer": "SFTTrainer"}, "[1]", "{"):
        with pytest.raises(WorkError, match=r"b\.yaml"):
            read(Path(write(tmp_path / "b.yaml", broken)))
