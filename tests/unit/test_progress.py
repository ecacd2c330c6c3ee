"""What a log shows of a run: every state, steps now and then, and that the work goes on where nothing else is said."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from orchestrator.progress import Lines


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("orchestrator.progress.time.monotonic", lambda: now[0])
    return now


def test_a_long_wait_is_told_ever_more_seldom(clock: list[float]) -> None:
    out = io.StringIO()
    lines = Lines(Console(file=out, width=200))
    with lines.stage("sft it"):
        lines.event({"type": "state", "state": "starting"})
        for _ in range(100):
            clock[0] += 1
            lines.waiting()
        lines.event({"type": "state", "state": "loading"})
        lines.event({"type": "doing", "what": "reading the rows"})
        for _ in range(12):
            clock[0] += 1
            lines.waiting()
    assert out.getvalue().splitlines() == [
        "sft it: starting",
        "sft it: starting, for 10 s",
        "sft it: starting, for 30 s",
        "sft it: starting, for 70 s",
        "sft it: loading",
        "sft it: reading the rows",
        "sft it: reading the rows, for 10 s",
    ]


def test_a_step_breaks_the_wait(clock: list[float]) -> None:
    out = io.StringIO()
    lines = Lines(Console(file=out, width=200))
    with lines.stage("sft it"):
        lines.event({"type": "state", "state": "training"})
        for step in range(1, 5):
            clock[0] += 9
            lines.waiting()
            lines.event({"type": "step", "step": step, "total": 4, "metrics": {"loss": 1.5}})
    assert out.getvalue().splitlines() == [
        "sft it: training",
        "sft it: 1/4  loss 1.5  9 s, about 27 s left",
        "sft it: 2/4  loss 1.5  18 s, about 18 s left",
        "sft it: 3/4  loss 1.5  27 s, about 9 s left",
        "sft it: 4/4  loss 1.5  36 s, about 0 s left",
    ]
