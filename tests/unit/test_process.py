"""Short commands, long children, and the environment they get."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from orchestrator import process

TREE = """
import subprocess, sys
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)
print(child.pid, flush=True)
child.wait()
"""


def child(work: Path, *argv: str) -> process.Child:
    return process.Child(argv, cwd=work, env=dict(os.environ), stdout=work / "out", stderr=work / "err")


def test_short_commands_never_raise(work: Path) -> None:
    assert process.run((sys.executable, "-c", "print(1)"), timeout=20) == process.Outcome(0, "1\n", "")
    assert process.run(("no-such-command-here",), timeout=1).code == 127
    assert process.run((str(work),), timeout=1).code == 127
    assert process.run(("sleep", "30"), timeout=0.1).code == 124
    assert (
        process.run((sys.executable, "-c", "import sys; sys.stdout.buffer.write(b'\\xff')"), timeout=20).out == "\ufffd"
    )


def test_a_signal_is_a_negative_code(work: Path) -> None:
    one = child(work, sys.executable, "-c", "import os; os.kill(os.getpid(), 15)")
    assert one.wait(20) == -15


def test_killing_takes_the_whole_tree(work: Path) -> None:
    one = child(work, sys.executable, "-c", TREE)
    while not (work / "out").read_text().endswith("\n"):
        time.sleep(0.02)
    grandchild = int((work / "out").read_text())
    assert process.alive(grandchild)
    one.kill()
    psutil.wait_procs([psutil.Process(grandchild)] if psutil.pid_exists(grandchild) else [], timeout=3)
    assert not process.alive(grandchild)
    assert not process.alive(one.pid)
    one.kill()


def test_what_a_dead_leader_left_is_found_by_its_mark(work: Path) -> None:
    """As a data loader whose trainer was killed for memory."""
    env = {**os.environ, "MARK": str(work)}
    argv = (sys.executable, "-c", TREE)
    one = process.Child(argv, cwd=work, env=env, stdout=work / "out", stderr=work / "err", mark="MARK")
    while not (work / "out").read_text().endswith("\n"):
        time.sleep(0.02)
    orphan = psutil.Process(int((work / "out").read_text()))
    os.kill(one.pid, 9)
    assert one.wait(20) == -9
    assert orphan.is_running()
    one.kill()
    psutil.wait_procs([orphan], timeout=3)
    assert not process.alive(orphan.pid)


def test_a_worker_sees_nothing_that_bends_the_module_search(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "x")
    found = process.clean_environment({"PYTHONPATH": "ours", "A": "1"})
    assert found["PYTHONPATH"] == "ours"
    assert found["A"] == "1"
    assert not {"PYTHONHOME", "VIRTUAL_ENV"} & set(found)
    assert found["PATH"] == os.environ["PATH"]
