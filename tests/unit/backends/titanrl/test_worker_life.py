"""Runs that can't go on are ended: TitanRL itself would wait for ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_RUN = """
import os, subprocess, sys, time
from backends.titanrl.worker_life import LIFE
from types import SimpleNamespace
from orchestrator.harness import Harness
actor = subprocess.Popen(["sleep", "60"])
try:
    LIFE.start(Harness(), 10, float(sys.argv[1]))
    LIFE.reached(1, {"loss": 1.0}, validation=False)
    if sys.argv[2] == "kill":
        os.kill(actor.pid, 9)
    if sys.argv[2] == "fault":
        report = "actor failed: Traceback\\n  File x\\n  ValueError: no such shard\\nwhile it was made"
        LIFE.fault(SimpleNamespace(report=lambda: report))
    time.sleep(30)
finally:
    actor.kill()
"""


def ended(folder: Path, minutes: float, deed: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and events of a process that pretends to train."""
    variables = {"POST_TRAIN_RUN": str(folder), "POST_TRAIN_ATTEMPT": str(folder), "PYTHONPATH": ":".join(sys.path)}
    argv = [sys.executable, "-c", _RUN, str(minutes), deed]
    worker = subprocess.Popen(argv, env=variables, start_new_session=True)
    try:
        code = worker.wait(40)
    finally:
        os.killpg(worker.pid, signal.SIGKILL)  # what a keeper does with the processes that are left
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return code, [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("minutes", "deed", "code"),
    [(10, "kill", "titanrl.actor"), (10, "fault", "titanrl.actor"), (0.02, "wait", "titanrl.stalled")],
)
def test_a_run_that_cannot_go_on_is_ended(tmp_path: Path, minutes: float, deed: str, code: str) -> None:
    exit_code, events = ended(tmp_path, minutes, deed)
    assert exit_code == 1
    assert [(e["type"], e.get("code")) for e in events] == [("step", None), ("error", code)]
    if deed == "fault":
        assert events[-1]["message"] == "an actor of the run failed: ValueError: no such shard"
