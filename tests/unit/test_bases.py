"""A base that changed after it was trained on is no base for what was trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Cli, Write


def test_the_base_as_it_was_is_taken(trained: Path, cli: Cli) -> None:
    cli("merge", "t", "--backend", "fake")


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_another_base_in_the_same_place_is_refused(trained: Path, base: Path, cli: Cli, file: str) -> None:
    content = bytearray((base / file).read_bytes())
    content[-1] ^= 1
    (base / file).write_bytes(bytes(content))
    said = cli("merge", "t", "--backend", "fake", code=9)
    assert "is not the model that t-sft-" in said.err
    assert str(base) in said.err


def test_nor_is_it_taken_when_a_stopped_run_goes_on(trained: Path, base: Path, cli: Cli) -> None:
    cli("merge", "t", "--backend", "fake", "--name", "m", "--set", "native.fail=2", code=8)
    (base / "config.json").write_text('{"changed": true}')
    assert "is not the model that t-sft-" in cli("run", "--resume", "m", code=9).err


def test_the_base_of_a_chain_is_held_against_its_first_run(trained: Path, base: Path, cli: Cli, write: Write) -> None:
    """The merge in between has a base of its own, and an eval takes up both."""
    cli("merge", "t", "--backend", "fake", "--name", "m")
    items = write("items.jsonl", [{"prompt": "3+4?", "answer": "7"}])
    judge = ("eval", "m-merge", "--backend", "fake", "--data", str(items), "--name", "e")
    cli(*judge)
    (base / "config.json").write_text('{"changed": true}')
    assert "t-sft-" in cli(*judge, code=9).err


def test_a_run_whose_folder_is_gone_says_nothing(trained: Path, base: Path, cli: Cli, work: Path, chat: Path) -> None:
    cli("merge", "t", "--backend", "fake", "--name", "m")
    trained.rename(work / "elsewhere")
    (base / "config.json").write_text('{"changed": true}')
    cli("sft", "--backend", "fake", "--from", "m", "--data", str(chat), "--name", "u")
