"""The index answers like the manifests, whatever happens to it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import index
from orchestrator.lock import owned

if TYPE_CHECKING:
    from tests.conftest import MakeRun, Start


def ids(runs: Path) -> list[str]:
    return [row.id for row in index.rows(runs)]


def test_no_folder_is_no_run(runs: Path) -> None:
    assert index.rows(runs) == []
    assert not runs.exists()


def test_rows_follow_the_manifests_newest_first(runs: Path, make_run: MakeRun) -> None:
    make_run("a", created=1.0)
    make_run("b", created=2.0, metrics={"loss": 0.5})
    assert ids(runs) == ["b", "a"]
    make_run("a", created=3.0, state="FAILED")
    (runs / "b" / "manifest.json").unlink()
    assert [(row.id, row.state) for row in index.rows(runs)] == [("a", "FAILED")]


@pytest.mark.parametrize("damage", ["gone", "garbage", "other table", "other rows", "other fields"])
def test_a_damaged_index_is_rebuilt(runs: Path, make_run: MakeRun, damage: str) -> None:
    make_run("a")
    index.rows(runs)
    path = runs / index.FILE
    if damage == "gone":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"garbage" * 1000)
    else:
        database = sqlite3.connect(path)
        with database:
            if damage == "other table":
                database.execute("DROP TABLE runs")
                database.execute("CREATE TABLE runs (x)")
            text = '{"unknown": 1}' if damage == "other fields" else "not json"
            database.execute("UPDATE runs SET row = ?", (text,)) if damage != "other table" else None
        database.close()
    assert ids(runs) == ["a"]
    assert ids(runs) == ["a"]


@pytest.mark.parametrize("content", ["", "[]", "{}", "not json", '{"id": "a", "spec": 5}'])
def test_a_damaged_manifest_shows(runs: Path, make_run: MakeRun, content: str) -> None:
    make_run("a")
    (make_run("b") / "manifest.json").write_text(content)
    assert {(row.id, row.state) for row in index.rows(runs)} == {("a", "SUCCEEDED"), ("b", "DAMAGED")}


@pytest.mark.parametrize(("key", "value"), [("created", "yesterday"), ("metrics", [1]), ("parents", 5)])
def test_a_field_of_another_kind_is_damage(runs: Path, make_run: MakeRun, key: str, value: object) -> None:
    make_run("a")
    path = make_run("b") / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    assert {row.state for row in index.rows(runs)} == {"SUCCEEDED", "DAMAGED"}


def test_a_dead_owner_shows_as_interrupted(runs: Path, make_run: MakeRun) -> None:
    folder = make_run("a", state="RUNNING")
    assert index.rows(runs)[0].state == "INTERRUPTED"
    with owned(folder):
        assert index.rows(runs)[0].state == "RUNNING"


def test_other_files_are_no_runs(runs: Path, make_run: MakeRun) -> None:
    make_run("a")
    (runs / "notes.txt").touch()
    (runs / "empty").mkdir()
    (runs / "dangling").symlink_to(runs / "nowhere")
    (runs / ".removed-x").mkdir()
    assert ids(runs) == ["a"]


@pytest.mark.parametrize("behind", [False, True])
def test_a_read_only_folder_can_be_listed(runs: Path, make_run: MakeRun, start: Start, behind: bool) -> None:
    make_run("a")
    if behind:
        index.rows(runs)
        make_run("b")
    for path in (runs, *runs.glob(".index*")):
        path.chmod(0o500 if path == runs else 0o400)
    out, err = start("runs", "list", "--json", obedient=True).communicate(timeout=120)
    runs.chmod(0o700)
    assert {row["id"] for row in json.loads(out)} == ({"a", "b"} if behind else {"a"}), err


def test_ten_thousand_runs_are_all_there_and_a_change_is_seen(runs: Path, make_run: MakeRun) -> None:
    text = (make_run("seed") / "manifest.json").read_text()
    for n in range(10_000):
        folder = runs / f"r-{n}"
        folder.mkdir()
        (folder / "manifest.json").write_text(text.replace('"id": "seed"', f'"id": "r-{n}"'))
    assert len(ids(runs)) == 10_001
    make_run("r-7", state="FAILED", created=9e9)
    first, *rest = index.rows(runs)
    assert (first.id, first.state, len(rest)) == ("r-7", "FAILED", 10_000)
    assert len({row.id for row in rest}) == 10_000
