"""Installations that were killed, damaged, or started twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from orchestrator import envs
from orchestrator.backend import EnvLock
from orchestrator.hardware import Machine

CPU = Machine(cores=1, memory=2**30)
ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys
from pathlib import Path
from orchestrator import envs
from orchestrator.backend import EnvLock
lock, say = EnvLock(folder=Path(sys.argv[1])), lambda line: print(line, flush=True)
env = envs.install(lock, "one", "cpu", say=say, find_links=sys.argv[2])
print("READY" if env.ready else "NOT READY", flush=True)
"""


def _start(lock: EnvLock, house: Path, sleep: float) -> subprocess.Popen[str]:
    variables = os.environ | {"TINY_SLEEP": str(sleep), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", PROGRAM, str(lock.folder), str(house)]
    return subprocess.Popen(argv, env=variables, stdout=subprocess.PIPE, text=True)


def _read_until(child: subprocess.Popen[str], words: str) -> list[str]:
    assert child.stdout is not None
    lines = []
    for line in child.stdout:
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError(f"{words!r} was never said: {lines}")


def test_a_killed_installation_is_not_taken_for_finished(lock: EnvLock, house: Path) -> None:
    child = _start(lock, house, sleep=60)
    _read_until(child, "importing the packages")
    time.sleep(0.3)
    orphans = _children(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    found = envs.locate("one", lock, CPU, None)
    assert not found.ready
    assert found.problems == ()
    assert (found.folder / "install.log").exists()
    assert orphans
    for pid in orphans:
        os.kill(pid, signal.SIGKILL)
    assert envs.install(lock, "one", "cpu", say=print, find_links=str(house)).ready


def test_an_orphaned_installer_is_waited_for(lock: EnvLock, house: Path) -> None:
    child = _start(lock, house, sleep=4)
    _read_until(child, "importing the packages")
    time.sleep(0.3)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    said: list[str] = []
    assert envs.install(lock, "one", "cpu", say=said.append, find_links=str(house)).ready
    assert f"another process (pid {child.pid})" in said[0]
    assert any(line.startswith("making ") for line in said)


def test_of_two_installations_one_waits_for_the_other(lock: EnvLock, house: Path) -> None:
    children = [_start(lock, house, sleep=1.5) for _ in range(2)]
    outputs = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert all(text.splitlines()[-1] == "READY" for text in outputs)
    assert sum(line.startswith("making ") for text in outputs for line in text.splitlines()) == 1
    assert sum("is installing this environment; waiting" in text for text in outputs) == 1


def test_a_damaged_record_means_not_ready_and_a_new_installation(lock: EnvLock, house: Path) -> None:
    env = envs.install(lock, "one", "cpu", say=print, find_links=str(house))
    record = env.folder / "READY.json"
    whole = record.read_text()
    for damage in (b"", b"{", b"[]", b'{"key": 1}', b"\xff", whole[: len(whole) // 2].encode()):
        record.write_bytes(damage)
        assert not envs.locate("one", lock, CPU, None).ready
    assert envs.install(lock, "one", "cpu", say=print, find_links=str(house)) == env
    assert record.read_text() != whole
    env.python.unlink()
    assert not envs.locate("one", lock, CPU, None).ready


def _children(pid: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(pid).children(recursive=True)]
