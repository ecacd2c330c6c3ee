"""A run again: the same to the bit, or what differs and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import manifest, reproduction
from orchestrator.manifest import Manifest
from orchestrator.store import Store

if TYPE_CHECKING:
    from tests.conftest import Cli, Write


def test_the_same_run_makes_the_same_bytes(trained: Path, cli: Cli, runs: Path) -> None:
    said = cli("reproduce", "t", "--json").json
    assert said["same"]
    assert said["again"].startswith("t-again-sft-")
    assert said["compared"][1] > 0
    assert Store(runs).find(said["again"]).manifest.fingerprint == Store(runs).find("t-sft").manifest.fingerprint


def test_a_merge_and_an_eval_can_be_run_again(trained: Path, cli: Cli, write: Write) -> None:
    items = write("items.jsonl", [{"prompt": "3+4?", "answer": "7"}])
    cli("merge", "t-sft", "--backend", "fake", "--name", "m")
    cli("eval", "m-merge", "--backend", "fake", "--data", str(items), "--name", "e")
    assert cli("reproduce", "m-merge", "--json").json["same"]
    assert cli("reproduce", "e-eval", "--json").json["same"]


def test_a_run_that_came_out_otherwise_is_told_file_by_file(trained: Path, cli: Cli) -> None:
    record = manifest.read(trained)
    (artifact,) = record.artifacts
    files = tuple(f.model_copy(update={"sha256": "0" * 64}) for f in artifact.files)
    manifest.write(trained, record.changed(artifacts=(artifact.model_copy(update={"files": files}),)))
    said = cli("reproduce", "t-sft", code=9)
    assert "artifacts  0 of" in said.out
    assert "did not come out the same" in said.err


def test_what_can_t_come_out_the_same_is_not_tried(trained: Path, base: Path, cli: Cli, runs: Path) -> None:
    (base / "config.json").write_text('{"other": 1}')
    said = cli("reproduce", "t-sft", code=5)
    assert "inputs.model" in said.err
    assert len(list(runs.glob("t-*"))) == 1


def test_an_unfinished_run_is_nothing_to_compare_with(trained: Path, cli: Cli) -> None:
    manifest.write(trained, manifest.read(trained).changed(state="FAILED"))
    assert "nothing to compare with" in cli("reproduce", "t-sft", code=2).err


def changed(record: Manifest, **fields: object) -> Manifest:
    return record.model_copy(update=fields)


def test_numbers_that_tell_of_the_clock_are_left_alone(trained: Path, runs: Path) -> None:
    record = Store(runs).find("t-sft").manifest
    one = changed(record, metrics={"loss": 1.0, "train_runtime": 3.0, "peak_memory": 5})
    same = changed(record, metrics={"loss": 1.0, "train_runtime": 4.0, "peak_memory": 6})
    assert reproduction.compare(one, same).same
    other = reproduction.compare(one, changed(record, metrics={"loss": 1.5}))
    assert other.metrics == ("loss: 1.0 -> 1.5",)


def test_probes_and_circumstances(trained: Path, runs: Path) -> None:
    record = Store(runs).find("t-sft").manifest
    probe = {"rows": [{"ids": [1, 2], "logprobs": [-0.5]}]}
    first = changed(record, probe=probe, provenance={"git": "a", "environment": {"packages": {"torch": "1"}}})
    later = changed(first, provenance={"git": "b", "environment": {"packages": {"torch": "2"}}})
    assert reproduction.compare(first, later).circumstances == ("git: a -> b", "package torch: 1 -> 2")
    moved = changed(first, probe={"rows": [{"ids": [1, 2], "logprobs": [-0.75]}]})
    assert reproduction.compare(first, moved).probe == 0.25
    other = reproduction.compare(first, changed(first, probe={"rows": [{"ids": [1, 3], "logprobs": [-0.5]}]}))
    assert not other.tokens
    assert not other.same
    assert json.dumps(other.lines())
