"""One owner a run, between real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import lock
from orchestrator.errors import RunBusy, StorageError
from orchestrator.lock import is_owned, owned

ROOT = Path(__file__).parents[2]
OWNER = f"""
import sys; sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from orchestrator.lock import owned
with owned(Path('.')):
    print('mine', flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def owner(work: Path) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "mine\n"
    yield child
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


def test_a_second_owner_is_refused_and_told_who(
    owner: subprocess.Popen[str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_PATIENCE", 0.2)
    assert is_owned(work)
    with pytest.raises(RunBusy, match=rf"pid {owner.pid}\)"), owned(work):
        pass
    assert is_owned(work)


def test_a_killed_owner_lets_go(owner: subprocess.Popen[str], work: Path) -> None:
    owner.kill()
    owner.wait()
    assert not is_owned(work)
    with owned(work):
        assert is_owned(work)
        assert (work / "lock").read_text() == str(os.getpid())
    assert not is_owned(work)


def test_waiting_a_little_is_enough_when_the_owner_ends(owner: subprocess.Popen[str], work: Path) -> None:
    assert owner.stdin is not None
    owner.stdin.close()
    began = time.monotonic()
    with owned(work):
        assert time.monotonic() - began < 2
    owner.wait()


def test_looking_takes_nothing(work: Path) -> None:
    assert not is_owned(work)
    assert list(work.iterdir()) == []
    with pytest.raises(StorageError), owned(work / "nowhere"):
        pass
