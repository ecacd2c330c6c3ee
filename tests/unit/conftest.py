"""What tests of several modules begin with: an owner that lives, an attempt's folder, a finished run."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Cli


@pytest.fixture
def lock(work: Path) -> Iterator[int]:
    """An owner that lives."""
    handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    yield handle
    os.close(handle)


@pytest.fixture
def attempt(work: Path) -> Path:
    folder = work / "attempts" / "001"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def trained(cli: Cli, base: Path, chat: Path, runs: Path) -> Path:
    """The folder of a finished run `t` that made an adapter of `base`."""
    cli("sft", "--backend", "fake", "--name", "t", "--model", str(base), "--data", str(chat))
    return next(runs.glob("t-sft-*"))
