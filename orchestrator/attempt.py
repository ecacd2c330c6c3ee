"""One attempt's process, from start to end: its events as they come, a stop when asked, what it left behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from orchestrator import harness, keeper, process
from orchestrator.alive import KEEPER, Sign
from orchestrator.atomic import storage
from orchestrator.ending import Ending, logged
from orchestrator.errors import EnvironmentMissing, PostTrainError
from orchestrator.events import EventReader
from orchestrator.interrupt import Interrupt
from orchestrator.plan import RunPlan
from orchestrator.progress import Progress
from orchestrator.rundir import RunDir

_PERIOD = 0.1

Look = Callable[[], PostTrainError | None]
"""What is wrong with the files that went in; None for nothing."""


def run(plan: RunPlan, number: int, resumed: bool, interrupt: Interrupt, progress: Progress, *, look: Look) -> Ending:
    """Start the worker of a plan and stay with it until it ends.

    Args:
        look: called once everything is loaded and training begins; what it gives ends the attempt.
    """
    attempt, *earlier = (RunDir(plan.run_dir).attempt(each) for each in (number, *range(1, number)))
    ending = Ending(attempt, metrics=logged(earlier))
    child = _child(plan, attempt, resumed)
    try:
        with progress.stage(f"{plan.spec.stage} {plan.run_id}"):
            _stay(child, ending, interrupt, progress, look)
    finally:
        child.kill()
    return ending


def _child(plan: RunPlan, attempt: Path, resumed: bool) -> process.Child:
    if not plan.env.python.exists():
        fix = f"post-train backends install {plan.env.name}"
        raise EnvironmentMissing("the environment's Python is gone", where=str(plan.env.python), fix=fix)
    with storage(attempt):
        attempt.mkdir(parents=True)
        sign = Sign(attempt, KEEPER)
    try:
        return process.Child(
            keeper.argv(plan.run_dir, attempt, plan.argv),
            cwd=attempt,
            env=process.clean_environment(_variables(plan, attempt, resumed)),
            stdout=attempt / "stdout.log",
            stderr=attempt / "stderr.log",
            inherit=sign.handles,
            mark=harness.ATTEMPT_VARIABLE,
        )
    finally:
        sign.close()  # the keeper's now


def _variables(plan: RunPlan, attempt: Path, resumed: bool) -> dict[str, str]:
    ours = {harness.RUN_VARIABLE: str(plan.run_dir), harness.ATTEMPT_VARIABLE: str(attempt)}
    path = os.pathsep.join(filter(None, [str(plan.programs), os.environ.get("PATH")]))
    # without a fixed seed Python orders sets anew in each process, and so do files that list one, such as PEFT's config
    fixed = {"PATH": path, "PYTHONHASHSEED": "0"}
    return {**fixed, **plan.environment, **ours, **({harness.RESUME_VARIABLE: "1"} if resumed else {})}


def _stay(child: process.Child, ending: Ending, interrupt: Interrupt, progress: Progress, look: Look) -> None:
    reader, asked, looked = EventReader(ending.attempt / "events.jsonl"), 0, False
    while True:
        code = child.wait(_PERIOD)
        _take(reader.new(), ending, progress)
        progress.waiting()
        if ending.begun and not looked:
            looked, ending.objection = True, look()
            if ending.objection:
                child.kill()
        if code is not None:
            ending.code = keeper.SIGNALLED - code if code > keeper.SIGNALLED else code
            break
        if interrupt.count > asked:
            asked = interrupt.count
            _stop(child, ending, progress, asked)
    if reader.garbage:
        ending.warnings.append(f"events.garbage: {reader.garbage} lines of the event file were no events")


def _take(events: Iterable[dict[str, Any]], ending: Ending, progress: Progress) -> None:
    for event in events:
        ending.note(event)
        progress.event(event)


def _stop(child: process.Child, ending: Ending, progress: Progress, asked: int) -> None:
    if asked == 1:
        last = "nothing is left but to save it" if ending.saving else "stopping after this step and saving a checkpoint"
        progress.say(f"{last}; Ctrl-C again ends it at once")
        (ending.attempt / "stop").touch()
    else:
        ending.killed = True
        child.kill()
