"""A folder in the making: whole or not there, whoever is killed while it is made."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from data_prep.place import making

ROOT = Path(__file__).resolve().parents[3]


def test_it_is_there_when_it_is_whole(work: Path) -> None:
    with making(work / "new/set") as part:
        (part / "file").write_text("x")
        assert not (work / "new/set").exists()
    assert [path.name for path in (work / "new").rglob("*")] == ["set", "file"]


def fill(folder: Path, failure: OSError | None = None) -> None:
    """Make a folder with a file."""
    with making(folder) as part:
        (part / "file").write_text("x")
        if failure:
            raise failure


def overtaken(folder: Path) -> None:
    """Make a folder while another process makes the same one."""
    with making(folder) as part:
        os.utime(part, (0, 0))
        fill(folder)


def test_nothing_is_left_of_a_failure_and_the_place_is_told(work: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        fill(work / "set", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert caught.value.filename == str(work / "set")
    assert list(work.iterdir()) == []
    (work / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        fill(work / "file/set")


def test_of_two_one_is_refused(work: Path) -> None:
    with pytest.raises(FileExistsError):
        overtaken(work / "set")
    assert [path.name for path in work.rglob("*")] == ["set", "file"]


def test_what_a_killed_one_left_is_removed_but_nothing_else(work: Path) -> None:
    left, other = work / ".set.abcdefgh", work / ".set.of.mine"
    for folder in (left, other):
        folder.mkdir()
        os.utime(folder, (0, 0))
    fill(work / "set")
    assert sorted(path.name for path in work.iterdir()) == [".set.of.mine", "set"]


def test_processes_end_with_a_killed_owner(work: Path) -> None:
    rows = work / "rows.jsonl"
    rows.write_text("".join(f'{{"prompt": "{n}", "completion": "{"x" * 500}"}}\n' for n in range(60_000)))
    argv = [sys.executable, "-m", "orchestrator", "data", "prepare", str(rows), "-o", str(work / "set")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([*argv, "--processes", "2"], env=environment, stderr=subprocess.DEVNULL) as owner:
        end = time.monotonic() + 60
        while len(children := psutil.Process(owner.pid).children()) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        owner.kill()
    assert owner.returncode == -signal.SIGKILL
    gone, alive = psutil.wait_procs(children, timeout=20)
    assert (len(gone), alive) == (2, [])
    assert not (work / "set").exists()
