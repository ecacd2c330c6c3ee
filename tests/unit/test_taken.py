"""What a stage takes up is what was recorded: also the measure itself, and also while it is being loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator import manifest, sealed
from orchestrator.store import Store

if TYPE_CHECKING:
    from tests.conftest import Cli, Write

PROBE: dict[str, Any] = {"version": 1, "rows": [{"logprobs": [-1.0]}]}


@pytest.fixture
def measured(trained: Path) -> Path:
    """A finished run that left a probe, which the fake engine doesn't."""
    manifest.write(trained, manifest.read(trained).model_copy(update={"probe": PROBE}))
    (trained / "probe.json").write_text(json.dumps(PROBE))
    return trained


def test_a_probe_as_it_was_is_taken(measured: Path, cli: Cli) -> None:
    cli("merge", "t", "--backend", "fake")


@pytest.mark.parametrize("content", ['{"version": 0, "rows": [{"logprobs": [-1.0]}]}', '{"version": 1}', "{", "null"])
def test_another_probe_than_the_manifest_has_is_refused(measured: Path, cli: Cli, content: str) -> None:
    (measured / "probe.json").write_text(content)
    said = cli("merge", "t", "--backend", "fake", code=9)
    assert "not the one that its manifest records" in said.err


def test_so_is_one_that_is_gone(measured: Path, cli: Cli) -> None:
    (measured / "probe.json").unlink()
    assert "the probe of t-sft-" in cli("verify", "t", "--backend", "fake", code=9).err


def test_so_is_a_changed_copy_in_the_manifest(measured: Path, cli: Cli) -> None:
    manifest.write(measured, manifest.read(measured).model_copy(update={"probe": None}))
    cli("merge", "t", "--backend", "fake", code=9)


def test_every_model_of_an_eval_is_looked_at(measured: Path, cli: Cli, chat: Path, write: Write) -> None:
    """The run in the middle of a chain is nobody's parent here."""
    cli("merge", "t", "--backend", "fake", "--name", "m")
    more = ("--from", "m-merge", "--data", str(chat), "--name", "u", "--set", "method=full")
    cli("sft", "--backend", "fake", *more)
    items = write("items.jsonl", [{"prompt": "3+4?", "answer": "7"}])
    (middle,) = measured.parent.glob("m-merge-*")
    (middle / "artifacts" / "model" / "tokenizer.json").write_text('{"other": 1}')
    assert "m-merge-" in cli("eval", "u", "--backend", "fake", "--data", str(items), code=9).err


def test_data_that_changed_while_it_was_loaded_ends_the_run(cli: Cli, base: Path, chat: Path, runs: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--name", "t")
    said = cli(*words, "--set", f"native.spoil={json.dumps([str(chat)])}", "--set", "native.steps=1000", code=3)
    assert "data.train changed" in said.err
    assert Store(runs).find("t").manifest.state == "FAILED"


def test_a_parent_that_changed_while_it_was_merged_fails_the_merge(trained: Path, cli: Cli) -> None:
    weights = trained / "artifacts" / "adapter" / "adapter_model.safetensors"
    said = cli("merge", "t", "--backend", "fake", "--set", f"native.spoil={json.dumps([str(weights)])}", code=9)
    assert "not those its manifest records" in said.err


@pytest.mark.parametrize("file", ["plan.json", "native/fake.json"])
def test_a_stopped_run_with_another_configuration_does_not_go_on(
    cli: Cli, base: Path, chat: Path, runs: Path, file: str
) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--name", "t")
    cli(*words, "--set", "native.fail=2", code=8)
    path = Store(runs).find("t").path / file
    path.write_text(path.read_text().replace('"seed": 42', '"seed": 43').replace('"seed": 0', '"seed": 1'))
    assert file in cli("run", "--resume", "t", code=2).err


def test_a_plan_of_a_version_that_knew_fewer_settings_goes_on(cli: Cli, base: Path, chat: Path, runs: Path) -> None:
    words = ("sft", "--backend", "fake", "--model", str(base), "--data", str(chat), "--name", "t")
    cli(*words, "--set", "native.die_at=2", code=8)
    run = Store(runs).find("t")
    plan = json.loads((run.path / "plan.json").read_text())
    del plan["spec"]["proof"], plan["smoke"]
    (run.path / "plan.json").write_text(json.dumps(plan))
    manifest.write(run.path, run.manifest.model_copy(update={"plan": sealed.sealing(plan)}))
    cli("run", "--resume", "t")
