"""Ranks as planned, and paths of images that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.axolotl.worker_place import RANKS_VARIABLE, enter_rows_folder, require_ranks
from orchestrator.harness import WorkError


def test_one_worker_where_eight_were_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RANKS_VARIABLE, "8")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with pytest.raises(WorkError, match="1 of 8 ranks") as caught:
        require_ranks()
    assert "after `--`" in (caught.value.why or "")
    monkeypatch.setenv("WORLD_SIZE", "8")
    require_ranks()


def test_by_hand_nothing_was_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RANKS_VARIABLE, raising=False)
    require_ranks()


def test_images_are_found_beside_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows").mkdir()
    rows = tmp_path / "rows" / "chat.jsonl"
    rows.write_text("{}")
    monkeypatch.chdir(tmp_path)
    enter_rows_folder({"datasets": [{"path": str(rows)}]})
    assert Path.cwd() == tmp_path, "text needs no folder"
    enter_rows_folder({"datasets": [{"path": "org/rows"}], "processor_type": "AutoProcessor"})
    assert Path.cwd() == tmp_path, "a hub name is none"
    enter_rows_folder({"datasets": [{"path": str(rows)}], "processor_type": "AutoProcessor"})
    assert Path.cwd() == rows.parent
