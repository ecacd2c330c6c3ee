"""Events: one line each, read as they come, whatever else is in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.events import EventReader, EventWriter, parse


def test_what_is_written_is_read_once(work: Path) -> None:
    writer, reader = EventWriter(work / "e"), EventReader(work / "e")
    assert list(reader.new()) == []
    writer.emit("step", step=1, metrics={"loss": 0.5})
    assert [(e["type"], e["step"], e["metrics"]) for e in reader.new()] == [("step", 1, {"loss": 0.5})]
    assert list(reader.new()) == []
    writer.emit("state", state="done")
    assert [e["state"] for e in reader.new()] == ["done"]
    assert reader.garbage == 0


def test_a_rank_without_a_file_writes_nothing(work: Path) -> None:
    EventWriter(None).emit("state", state="done")
    assert list(work.iterdir()) == []


def test_a_torn_last_line_waits_for_its_end(work: Path) -> None:
    path = work / "e"
    reader, line = EventReader(path), b'{"type": "state", "state": "done"}\n'
    path.write_bytes(line + line[:12])
    assert len(list(reader.new())) == 1
    with path.open("ab") as file:
        file.write(line[12:])
    assert [e["state"] for e in reader.new()] == ["done"]
    assert reader.garbage == 0


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"",
        b"\xff\xfe",
        b"\x00\x00",
        b"[1, 2]",
        b"5",
        b'{"type": "unheard of"}',
        b'{"type": ["step"]}',
        b'{"type": null}',
        b'{"no": "type"}',
        b'{"type": "step", "metrics": [1]}',
        b"[" * 100_000,
        b'{"type": "state", "state": "done"',
    ],
)
def test_garbage_is_counted_and_passed_over(work: Path, line: bytes) -> None:
    path = work / "e"
    path.write_bytes(line + b'\n{"type": "state", "state": "done"}\n')
    reader = EventReader(path)
    assert [e["state"] for e in reader.new()] == ["done"]
    assert reader.garbage == 1


def test_numbers_that_are_no_json_are_seen_as_text(work: Path) -> None:
    EventWriter(work / "e").emit("step", metrics={"loss": float("nan"), "deep": [float("inf"), 1.0]})
    text = (work / "e").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["metrics"] == {"loss": "nan", "deep": ["inf", 1.0]}
    foreign = parse(b'{"type": "step", "metrics": {"loss": NaN, "grad": 1e999}}')
    assert foreign is not None
    assert foreign["metrics"] == {"loss": "nan", "grad": "inf"}


def test_texts_of_every_kind_survive(work: Path) -> None:
    EventWriter(work / "e").emit("sample", text="两 \n line \ud800", path=Path("x"))
    (event,) = EventReader(work / "e").new()
    assert event["text"].startswith("两 \n line ")
    assert event["path"] == "x"
