"""verify: a run's files, base and answers once more. What the fake engine can't answer is tried with the real one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.store import Store

if TYPE_CHECKING:
    from tests.conftest import Cli


def test_a_run_and_the_folder_of_its_artifact_are_the_same(trained: Path, cli: Cli, runs: Path) -> None:
    for reference in ("t-sft", str(trained), str(trained / "artifacts" / "adapter")):
        cli("verify", reference, "--backend", "fake")
    made = [run for run in Store(runs).rows() if "verify" in run.id]
    assert [run.parents for run in made] == [[trained.name]] * 3


def test_files_that_changed_are_told(trained: Path, cli: Cli) -> None:
    (trained / "artifacts" / "adapter" / "adapter_config.json").write_text("{}")
    assert "not those its manifest records" in cli("verify", "t-sft", "--backend", "fake", code=9).err


def test_a_base_that_changed_is_told(trained: Path, base: Path, cli: Cli) -> None:
    (base / "config.json").write_text('{"other": 1}')
    assert "is not the model that t-sft-" in cli("verify", "t-sft", "--backend", "fake", code=9).err


def test_a_folder_that_no_run_made(cli: Cli, base: Path) -> None:
    cli("verify", str(base), "--backend", "fake", code=6)


def test_a_verification_leaves_nothing_to_start_from(trained: Path, cli: Cli, chat: Path) -> None:
    cli("verify", "t-sft", "--backend", "fake", "--name", "v")
    cli("sft", "--backend", "fake", "--from", "v-verify", "--data", str(chat), code=3)
