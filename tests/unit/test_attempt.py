"""What an attempt's last words and exit code mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.attempt import Ending
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
