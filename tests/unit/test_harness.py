"""What a worker says and exits with, whether it has its own main function or lives in an engine's."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.events import EventReader

ROOT = Path(__file__).parents[2]
OWN = """
import sys; sys.path.insert(0, {root!r})
from orchestrator.harness import Harness, Stopped, WorkError
def work(harness, path):
    {body}
sys.exit(Harness().main(work))
"""
INSIDE = """
import sys; sys.path.insert(0, {root!r})
from orchestrator.harness import Harness, Stopped, WorkError
Harness().attach()
{body}
"""
FORESEEN = "raise WorkError('data.bad', 'line 3', fix='mend it')"

End = Callable[[str, str], tuple[int, list[dict[str, Any]], str]]


@pytest.fixture
def held_lock(work: Path) -> Iterator[None]:
    """An owner that lives."""
    handle = os.open(work / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    yield
    os.close(handle)


@pytest.fixture
def end(work: Path) -> End:
    """Run a few lines to their end: exit code, events, stderr."""

    def run(frame: str, body: str) -> tuple[int, list[dict[str, Any]], str]:
        script = frame.format(root=str(ROOT), body=body)
        ours = {"POST_TRAIN_RUN": str(work), "POST_TRAIN_ATTEMPT": str(work)}
        code = [sys.executable, "-c", script, "file"]
        done = subprocess.run(code, env={**os.environ, **ours}, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, list(EventReader(work / "events.jsonl").new()), done.stderr

    (work / "lock").touch()
    return run


@pytest.mark.parametrize("frame", [OWN, INSIDE], ids=["own", "inside"])
def test_a_foreseen_error_is_told_without_a_traceback(end: End, held_lock: None, frame: str) -> None:
    code, (event,), err = end(frame, FORESEEN)
    assert code == 1
    assert (event["type"], event["code"], event["message"], event["fix"]) == ("error", "data.bad", "line 3", "mend it")
    assert err == "data.bad: line 3\n"


@pytest.mark.parametrize("frame", [OWN, INSIDE], ids=["own", "inside"])
def test_a_surprise_is_told_with_its_traceback_in_the_log(end: End, held_lock: None, frame: str) -> None:
    code, (event,), err = end(frame, "raise KeyError('x')")
    assert (code, event["code"]) == (1, "engine.KeyError")
    assert "Traceback" in err


@pytest.mark.parametrize(("frame", "code"), [(OWN, 0), (INSIDE, 3)], ids=["own", "inside"])
def test_an_exit_is_no_error(end: End, held_lock: None, frame: str, code: int) -> None:
    body = "pass" if frame is OWN else "sys.exit(3)"
    ended, events, _ = end(frame, body)
    assert ended == code
    assert [event["type"] for event in events] == (["state"] if frame is OWN else [])


def test_a_stop(end: End, held_lock: None) -> None:
    code, (event,), _ = end(OWN, "raise Stopped")
    assert (code, event["state"]) == (75, "stopped")


def test_without_an_owner_there_is_nothing_to_save_and_it_says_so(end: End) -> None:
    code, (event,), _ = end(OWN, "import time; time.sleep(60)")
    assert (code, event["state"]) == (75, "stopped")


OFFLINE = """
    try:
        raise RuntimeError('Cannot send a request, as the client has been closed.')
    except RuntimeError:
        raise OSError("Can't load the configuration of 'org/model'")
"""


def test_a_hub_out_of_reach_is_told_behind_whatever_error(end: End, held_lock: None) -> None:
    _, (event,), _ = end(OWN, OFFLINE)
    assert (event["code"], event["why"]) == ("hub.unreachable", "the hub can't be reached from here")
    assert "model.path" in event["fix"]
    assert "'org/model'" in event["message"]
