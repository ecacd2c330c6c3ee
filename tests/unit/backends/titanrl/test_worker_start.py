"""What an earlier attempt left: which steps can be gone on from, and which can't."""

from __future__ import annotations

import json
from pathlib import Path

from backends.titanrl.worker_start import finished, put_aside
from orchestrator.events import EventReader, EventWriter


def step(folder: Path, number: int, *, whole: bool = False, exported: bool = False) -> Path:
    """A checkpoint of TitanRL's; `.metadata` is written last."""
    path = folder / f"step-{number}"
    path.mkdir(parents=True)
    if whole:
        (path / ".metadata").write_bytes(b"x")
    if exported:
        (path / "model.safetensors").write_bytes(b"x")
        index = {"weight_map": {"a": "model.safetensors"}}
        (path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return path


def test_torn_steps_are_put_aside_and_told_of(tmp_path: Path) -> None:
    folder, log = tmp_path / "checkpoint", tmp_path / "events.jsonl"
    step(folder, 3, whole=True)
    step(folder, 6)
    put_aside(folder, 9, EventWriter(log))
    assert sorted(path.name for path in folder.iterdir()) == ["broken-step-6", "step-3"]
    (told,) = EventReader(log).new()
    assert told["code"] == "checkpoint.broken"
    assert "step-6" in told["message"]


def test_weights_alone_end_a_run_and_are_no_place_to_go_on_from(tmp_path: Path) -> None:
    step(tmp_path, 9, exported=True)
    put_aside(tmp_path, 9, EventWriter(None))
    assert finished(tmp_path, 9)
    put_aside(tmp_path, 12, EventWriter(None))
    assert not finished(tmp_path, 12)
    assert [path.name for path in tmp_path.iterdir()] == ["broken-step-9"]


def test_an_export_that_lacks_a_file_is_none(tmp_path: Path) -> None:
    (step(tmp_path, 9, exported=True) / "model.safetensors").unlink()
    assert not finished(tmp_path, 9)
