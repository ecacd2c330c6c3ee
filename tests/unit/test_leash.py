"""A worker ends with its owner, when it is asked to, and when another rank is gone."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.errors import RunBusy
from orchestrator.leash import EXIT_STOPPED
from orchestrator.lock import wait_for_workers

ROOT = Path(__file__).parents[2]
WORKER = f"""
import sys, time; sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from orchestrator.leash import Leash
leash = Leash(Path('.'), Path('attempts/001'), rank=int(sys.argv[2]), on_loss=lambda names: print(names, flush=True))
leash.start()
if sys.argv[1] == 'saves':
    leash.defer()
print('working', flush=True)
if sys.argv[1] == 'fails':
    leash.fail()
    sys.exit(1)
if sys.argv[1] == 'ends':
    sys.exit(0)
while not (sys.argv[1] == 'saves' and leash.wanted):
    time.sleep(0.02)
print('saved', flush=True)
"""


def begin(how: str, rank: int = 0) -> subprocess.Popen[str]:
    child = subprocess.Popen([sys.executable, "-c", WORKER, how, str(rank)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "working\n"
    return child


@pytest.mark.parametrize("how", ["loads", "saves"])
@pytest.mark.parametrize("reason", ["owner dies", "stop file", "signal"])
def test_a_worker_stops(lock: int, attempt: Path, how: str, reason: str) -> None:
    child = begin(how)
    assert child.poll() is None
    if reason == "owner dies":
        fcntl.flock(lock, fcntl.LOCK_UN)  # what the kernel does when a process is killed
    elif reason == "stop file":
        (attempt / "stop").touch()
    else:
        child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=120)
    assert (child.returncode, out) == ((EXIT_STOPPED, "") if how == "loads" else (0, "saved\n"))


def test_a_run_without_a_lock_has_no_owner(attempt: Path) -> None:
    assert late() == (EXIT_STOPPED, "")


def test_one_that_starts_after_it_was_told_to_stop_does_nothing(lock: int, attempt: Path) -> None:
    """An attempt whose owner and keeper were killed, while the next one is at work."""
    (attempt / "stop").touch()
    assert late() == (EXIT_STOPPED, "")


def late() -> tuple[int, str]:
    child = subprocess.Popen([sys.executable, "-c", WORKER, "saves", "0"], stdout=subprocess.PIPE, text=True)
    out, _ = child.communicate(timeout=120)
    return child.returncode, out


def test_whoever_resumes_waits_for_a_worker_that_is_still_saving(lock: int, work: Path, attempt: Path) -> None:
    child = begin("saves")
    told: list[str] = []
    with pytest.raises(RunBusy, match="does not stop"):
        wait_for_workers(work, told.append, patience=1.2)
    assert told == ["an earlier worker is still saving its checkpoint; waiting for it to stop"]
    (attempt / "stop").touch()
    wait_for_workers(work, told.append, patience=5)
    assert child.communicate(timeout=120)[0] == "saved\n"


FORKS = f"""
import os, sys, time; sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from orchestrator.leash import Leash
leash = Leash(Path('.'), Path('attempts/001'))
leash.start()
if os.fork() == 0:
    other = os.open('other', os.O_RDWR | os.O_CREAT)  # takes the number that the lock had
    os.fork()
    os.fstat(other)
    os.write(1, f'{{os.getpid()}}\\n'.encode())
time.sleep(60)
"""


def test_what_a_worker_forked_is_not_waited_for(lock: int, work: Path) -> None:
    """A data loader lives on when its trainer is killed, and so does one that it forked."""
    child = subprocess.Popen([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    forked = [int(child.stdout.readline()) for _ in range(2)]
    child.kill()
    child.wait(20)
    told: list[str] = []
    wait_for_workers(work, told.append, patience=0.5)
    assert told == []
    for pid in forked:
        os.kill(pid, signal.SIGKILL)
    child.stdout.close()


@pytest.mark.parametrize("how", ["loads", "saves"])
def test_a_rank_ends_when_another_was_killed(lock: int, attempt: Path, how: str) -> None:
    """It might wait for the other's part of a sum until the launcher loses patience, 30 s later."""
    killed, left = begin("saves", 0), begin(how, 1)
    killed.kill()
    killed.communicate()
    out, _ = left.communicate(timeout=20)
    assert (left.returncode, out) == (1, "['rank-0']\n")


def test_a_rank_ends_when_another_failed(lock: int, attempt: Path) -> None:
    left, failed = begin("saves", 0), begin("fails", 1)
    assert failed.communicate(timeout=20)[0] == ""
    out, _ = left.communicate(timeout=20)
    assert (left.returncode, out) == (1, "['rank-1']\n")


def test_a_rank_outlives_one_that_is_done(lock: int, attempt: Path) -> None:
    left, done = begin("saves", 0), begin("ends", 1)
    assert done.communicate(timeout=20)[0] == ""
    with pytest.raises(subprocess.TimeoutExpired):
        left.wait(1.5)
    (attempt / "stop").touch()
    assert left.communicate(timeout=20)[0] == "saved\n"
