"""The keeper between an owner and an engine that is not on the leash yet, or never will be."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from orchestrator import keeper, process
from orchestrator.alive import KEEPER, Sign, living
from orchestrator.errors import RunBusy
from orchestrator.lock import wait_for_workers

ROOT = Path(__file__).parents[2]
IMPORTS = "import time; time.sleep(60)"
LEAVES = """
import subprocess, sys
subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)
"""
LEASHED = f"""
import sys, time; sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from orchestrator.leash import Leash
leash = Leash(Path({{run!r}}), Path({{attempt!r}}))
leash.start(); leash.defer()
while not leash.wanted: time.sleep(0.02)
time.sleep(1); print('saved')
"""

Begin = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture
def begin(lock: int, work: Path, attempt: Path) -> Begin:
    """Start an engine under a keeper, as an owner does."""

    def start(code: str) -> subprocess.Popen[bytes]:
        sign = Sign(attempt, KEEPER)
        env = os.environ | {"POST_TRAIN_ATTEMPT": str(attempt), "PYTHONPATH": str(ROOT)}
        argv = keeper.argv(work, attempt, (sys.executable, "-c", code))
        child = subprocess.Popen(argv, env=env, pass_fds=sign.handles)
        sign.close()
        return child

    return start


def engine_of(child: subprocess.Popen[bytes]) -> psutil.Process:
    deadline = time.monotonic() + 20
    while not (found := psutil.Process(child.pid).children()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found[0]


REASONS: dict[str, Callable[[int, Path, int], object]] = {
    "owner dies": lambda lock, attempt, pid: fcntl.flock(lock, fcntl.LOCK_UN),
    "stop file": lambda lock, attempt, pid: (attempt / "stop").touch(),
    "signal": lambda lock, attempt, pid: os.kill(pid, signal.SIGTERM),
}


@pytest.mark.parametrize("reason", REASONS)
def test_an_engine_that_still_starts_is_ended(begin: Begin, lock: int, attempt: Path, reason: str) -> None:
    child = begin(IMPORTS)
    engine = engine_of(child)
    REASONS[reason](lock, attempt, child.pid)
    assert child.wait(5) == 75
    assert not process.alive(engine.pid)


@pytest.mark.parametrize("reason", REASONS)
def test_one_on_the_leash_is_given_the_time_to_save(
    begin: Begin, lock: int, work: Path, attempt: Path, reason: str
) -> None:
    child = begin(LEASHED.format(run=str(work), attempt=str(attempt)))
    while "rank-0" not in living(attempt):
        time.sleep(0.02)
    REASONS[reason](lock, attempt, child.pid)
    assert child.wait(20) == 0
    assert (attempt / "stdout.log").read_text() == "saved\n"


def test_whoever_resumes_waits_from_the_first_moment(begin: Begin, work: Path, attempt: Path) -> None:
    child = begin(IMPORTS)  # no wait: it may not even have become a Python yet
    with pytest.raises(RunBusy, match="does not stop"):
        wait_for_workers(work, lambda _: None, patience=0.0)
    (attempt / "stop").touch()
    wait_for_workers(work, lambda _: None, patience=20)
    assert child.wait(5) == 75


def test_what_a_killed_engine_leaves_is_ended_and_its_signal_told(begin: Begin, work: Path) -> None:
    child = begin(LEAVES + IMPORTS)
    engine = engine_of(child)
    while not (orphans := engine.children()):
        time.sleep(0.02)
    engine.kill()
    assert child.wait(10) == 128 + signal.SIGKILL
    assert not process.alive(orphans[0].pid)
    wait_for_workers(work, lambda _: None, patience=0.0)


def test_an_exit_code_is_handed_on(begin: Begin) -> None:
    assert begin("import sys; sys.exit(3)").wait(20) == 3
