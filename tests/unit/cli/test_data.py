"""post-train data: what it makes, what it refuses, and runs that take what it made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Cli, Write

ROWS = [{"instruction": f"{n} + {n}?", "input": "", "output": str(2 * n)} for n in range(200)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def folder(cli: Cli, write: Write, work: Path) -> Path:
    """Prepared chat rows, 200 with a tenth held out, and as many validation rows."""
    cli("data", "prepare", str(write("sums.jsonl", ROWS)), "-o", "prepared", "--validation", "0.1")
    return work / "prepared"


def test_prepare_makes_a_folder_that_tells_all(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["use"], manifest["form"]) == ("alpaca", "sft", "messages")
    assert manifest["counts"]["rows"] == manifest["counts"]["kept"] == 200
    train, held = lines(folder / "train.jsonl"), lines(folder / "validation.jsonl")
    assert (len(train), len(held)) == (manifest["splits"]["train"]["rows"], manifest["splits"]["validation"]["rows"])
    assert len(train) + len(held) == 200
    assert 8 <= len(held) <= 35
    assert {"messages": [{"role": "user", "content": "7 + 7?"}, {"role": "assistant", "content": "14"}]} in train + held
    assert (folder / "ledger.jsonl").read_bytes() == b""
    assert str(folder.parent) not in (folder / "manifest.json").read_text()


def test_unchanged_input_is_not_read_again(cli: Cli, folder: Path) -> None:
    before = (folder / "manifest.json").stat().st_mtime_ns
    again = cli("data", "prepare", "sums.jsonl", "-o", "prepared", "--validation", "0.1")
    assert "unchanged prepared" in again.out
    assert (folder / "manifest.json").stat().st_mtime_ns == before
    other = cli("data", "prepare", "sums.jsonl", "-o", "prepared", "--validation", "0.2", code=6)
    assert "the folder is there already" in other.err


def test_check_reads_all_and_writes_nothing(cli: Cli, write: Write, work: Path) -> None:
    said = cli("data", "check", str(write("sums.jsonl", ROWS)), "--json")
    assert said.json["counts"]["kept"] == 200
    assert [path.name for path in work.iterdir()] == ["sums.jsonl"]


def test_stats_are_those_of_the_manifest(cli: Cli, folder: Path) -> None:
    assert cli("data", "stats", str(folder), "--json").json == json.loads((folder / "manifest.json").read_text())
    assert "rows      200 in, 200 kept" in cli("data", "stats", str(folder)).out
    assert "no prepared data" in cli("data", "stats", "nowhere", code=3).err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("data prepare none.jsonl -o o", 3, "none.jsonl: no such data file"),
        ("data prepare sums.jsonl", 2, "name the folder to make with --output"),
        ("data prepare sums.jsonl -o o --format nope", 3, "no format is called 'nope'"),
        ("data prepare sums.jsonl -o o --columns prompt", 3, "'prompt' is no pair NAME=COLUMN"),
        ("data prepare sums.jsonl -o o --use dpo", 3, "rows of the format alpaca serve sft, grpo, eval, not dpo"),
        ("data prepare sums.jsonl -o o --images nowhere", 3, "no such folder"),
        ("data prepare sums.jsonl -o o --encoding klingon", 3, "no encoding is called 'klingon'"),
        ("data prepare . -o o --format gsm8k", 3, "200 of 200 rows can't be used (other_format 200)"),
        ("data nonsense", 2, "no command is called 'nonsense'"),
    ],
)
def test_what_is_refused_leaves_nothing(cli: Cli, write: Write, work: Path, words: str, code: int, told: str) -> None:
    write("sums.jsonl", ROWS)
    said = cli(*words.split(), code=code)
    assert told in said.err
    assert [path.name for path in work.iterdir()] == ["sums.jsonl"]


def test_a_run_takes_a_prepared_folder_and_remembers_its_manifest(cli: Cli, folder: Path, base: Path) -> None:
    (run,) = cli("sft", "--backend", "fake", "--model", str(base), "--data", str(folder), "--json").json
    assert run["spec"]["data"]["train"] == str(folder / "train.jsonl")
    assert run["spec"]["data"]["eval"] == str(folder / "validation.jsonl")
    (parent,) = run["data"]
    assert parent["folder"] == str(folder)
    assert run["identity"]["inputs"]["data.train.manifest"] == parent["digest"]
    assert f"data {folder}  {parent['digest'][:23]}" in cli("runs", "lineage", run["id"]).out
    assert str(folder) in cli("runs", "show", run["id"]).out


def test_a_run_refuses_prepared_data_that_was_changed(cli: Cli, folder: Path, base: Path, runs: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--data", str(folder))
    train = folder / "train.jsonl"
    train.write_text(train.read_text().replace("14", "15"))
    said = cli(*words, code=3)
    assert "the file is not the one that its data manifest records" in said.err
    assert not runs.exists()
    train.write_text(train.read_text().replace("15", "14"))


def test_the_same_data_in_another_place_is_the_same_run(cli: Cli, folder: Path, base: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--dry-run", "--json", "--data")
    (here,) = cli(*words, str(folder)).json
    moved = folder.rename(folder.with_name("moved"))
    (there,) = cli(*words, str(moved)).json
    assert here["fingerprint"] == there["fingerprint"]


def test_rows_prepared_for_one_use_are_refused_for_another(cli: Cli, write: Write, work: Path, base: Path) -> None:
    liked = [{"prompt": f"{n}?", "completion": "yes", "label": bool(n % 2)} for n in range(50)]
    cli("data", "prepare", str(write("kto.jsonl", liked)), "-o", "kto")
    said = cli("sft", "--backend", "fake", "--model", str(base), "--data", "kto", code=3)
    assert "prepared for kto, and sft would learn something else from them" in said.err


def test_a_prepared_folder_is_checked_as_what_it_is(cli: Cli, write: Write) -> None:
    rows = [{"question": f"{n}+1?", "answer": f"so\n#### {n + 1}"} for n in range(50)]
    cli("data", "prepare", str(write("sums.jsonl", rows)), "-o", "set")
    found = cli("data", "check", "set", "--json").json
    assert (found["use"], found["counts"]["kept"], found["counts"]["dropped"]) == ("grpo", 50, {})


def test_shares_leave_some_for_training(cli: Cli, folder: Path) -> None:
    said = cli("data", "split", str(folder), "-o", "other", "--validation", "0.6", "--test", "0.6", code=3)
    assert "0.6 and 0.6 are more than all rows" in said.err
    assert "more than all rows" in cli("data", "check", str(folder), "--validation", "1", "--test", "0.1", code=3).err


def test_a_folder_that_was_not_prepared_is_refused(cli: Cli, work: Path, base: Path) -> None:
    (work / "raw").mkdir()
    said = cli("sft", "--backend", "fake", "--model", str(base), "--data", "raw", code=3)
    assert "a folder that is no prepared data" in said.err
    assert "post-train data prepare" in said.err
