"""A run without proof says so: in its plan, wherever it is shown, and where its model is taken up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import manifest
from orchestrator.harness import PROBE_VARIABLE, UNPROVED_VARIABLE
from orchestrator.plan import load_plan
from orchestrator.store import Store

if TYPE_CHECKING:
    from tests.conftest import Cli

TRAIN = ("sft", "--backend", "fake", "--name", "t")


@pytest.fixture
def train(cli: Cli, base: Path, chat: Path) -> tuple[str, ...]:
    return (*TRAIN, "--model", str(base), "--data", str(chat))


def test_it_is_told_recorded_and_shown(train: tuple[str, ...], cli: Cli, runs: Path) -> None:
    assert "proof.off" in cli(*train, "--no-proof").err
    run = Store(runs).find("t")
    assert run.manifest.spec.proof is False
    assert load_plan(run.path).environment[UNPROVED_VARIABLE] == "1"
    assert "unproved" in cli("runs", "show", "t").out


def test_whoever_takes_the_model_up_is_told(train: tuple[str, ...], cli: Cli, runs: Path) -> None:
    cli(*train, "--no-proof")
    assert "left no probe" in cli("merge", "t-sft", "--backend", "fake", "--name", "m").err


def test_with_proof_the_next_worker_is_given_the_probe(train: tuple[str, ...], cli: Cli, runs: Path) -> None:
    cli(*train)
    made = Store(runs).find("t")
    manifest.write(made.path, made.manifest.model_copy(update={"probe": {}}))
    (made.path / "probe.json").write_text("{}")
    said = cli("merge", "t-sft", "--backend", "fake", "--name", "m")
    assert "proof" not in said.err
    environment = load_plan(Store(runs).find("m").path).environment
    assert environment[PROBE_VARIABLE].endswith("probe.json")
    assert UNPROVED_VARIABLE not in environment


def test_a_run_with_proof_is_another_run(train: tuple[str, ...], cli: Cli, runs: Path) -> None:
    cli(*train)
    cli(*train, "--no-proof")
    assert len({row.fingerprint for row in Store(runs).rows()}) == 2
