"""What an attempt's last words and exit code mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.ending import Ending
from orchestrator.errors import RunInterrupted, WorkerFailed


def ended(code: int, *states: str) -> Ending:
    ending = Ending(Path("attempt"), code=code)
    for state in states:
        ending.note({"type": "state", "state": state})
    return ending


@pytest.mark.parametrize(("code", "states"), [(75, ("training",)), (1, ("training", "stopped"))])
def test_stopped(code: int, states: tuple[str, ...]) -> None:
    """torchrun ends with 1 when its ranks stopped on request."""
    with pytest.raises(RunInterrupted):
        ended(code, *states).check()


@pytest.mark.parametrize(("code", "states"), [(1, ("training",)), (0, ("training",)), (0, ("done", "training"))])
def test_failed(code: int, states: tuple[str, ...]) -> None:
    with pytest.raises(WorkerFailed):
        ended(code, *states).check()


def test_done() -> None:
    ended(0, "training", "done").check()


REPORT = """torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Failures:
[1]:
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 8763) (SIGTERM)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-12-01_13:01:44
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : {code} (pid: 8764) {name}
  error_file: <N/A>
"""
LOST = {"type": "error", "code": "rank.died", "message": "rank-1 died without a word"}


@pytest.mark.parametrize("reported", [True, False])
def test_the_rank_that_was_killed_is_named_and_its_signal(tmp_path: Path, reported: bool) -> None:
    """Other ranks see only that it is gone, or nothing at all when they were still starting."""
    (tmp_path / "stderr.log").write_text(REPORT.format(code=-9, name=" (SIGKILL)"))
    ending = Ending(tmp_path, code=1)
    if reported:
        ending.note(LOST)
    with pytest.raises(WorkerFailed, match=r"rank 1 \(pid 8764\) was killed by SIGKILL"):
        ending.check()


def test_a_rank_that_failed_by_itself_was_not_killed(tmp_path: Path) -> None:
    (tmp_path / "stderr.log").write_text(REPORT.format(code=1, name=""))
    with pytest.raises(WorkerFailed, match="ended with exit code 1 and gave no reason"):
        Ending(tmp_path, code=1).check()
