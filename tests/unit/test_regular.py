"""A pipe or device among what a stage reads is told, not waited for."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import regular

if TYPE_CHECKING:
    from tests.conftest import Cli


def test_what_stands_there(work: Path) -> None:
    os.mkfifo(work / "pipe")
    (work / "file").touch()
    (work / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        assert regular.other(work / "socket") == "a socket"
    assert [regular.other(work / name) for name in ("pipe", "link", "file", "gone")] == ["a pipe", "a pipe", None, None]
    assert (regular.other(work), regular.other(Path("/dev/null"))) == ("a folder", "a device")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "model.safetensors.index.json"])
def test_a_pipe_in_a_model(cli: Cli, base: Path, chat: Path, name: str) -> None:
    (base / name).unlink(missing_ok=True)
    os.mkfifo(base / name)
    words = ["sft", "--backend", "trl", "--model", str(base), "--data", str(chat), "--dry-run"]
    assert f"{base / name}: a pipe stands where a file should be" in cli(*words, code=3).err


def test_a_pipe_as_reward(cli: Cli, base: Path, prompts: Path, work: Path) -> None:
    os.mkfifo(work / "reward.py")
    words = ["rl", "--backend", "trl", "--model", str(base), "--data", str(prompts), "--dry-run"]
    assert "a pipe is no reward file" in cli(*words, "--reward", "reward.py:score", code=2).err
