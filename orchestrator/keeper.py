"""Stands between the owner of a run and its engine, from before the engine starts until nothing of it is left.

    python -P -m orchestrator.keeper RUN ATTEMPT -- ENGINE'S COMMAND

An engine is on the leash only once it has imported what it needs, which takes a large one half a minute. Until then
its keeper ends it when a stop is asked for or the owner is gone. The keeper holds a lock that it inherits from the
owner: it is held without a gap, so whoever resumes the run waits for all of the engine, started or not.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from orchestrator import harness, process
from orchestrator.alive import begun, held
from orchestrator.events import EventWriter
from orchestrator.leash import EXIT_STOPPED, RANK

SIGNALLED = 128
"""Plus a signal's number: the exit code for an engine that it ended."""

_PERIOD = 0.1


def argv(run: Path, attempt: Path, command: tuple[str, ...]) -> tuple[str, ...]:
    """The keeper's own command."""
    return (sys.executable, "-P", "-m", "orchestrator.keeper", str(run), str(attempt), "--", *command)


def keep(run: Path, attempt: Path, command: list[str]) -> int:
    """Run an engine to its end, and end what it leaves.

    Returns:
        Its exit code; 75 when it was ended before it was on the leash.
    """
    # to all of a machine's processes at once comes a shutdown: the engine's time to save is ours
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: (attempt / "stop").touch())
    engine = process.Child(
        command,
        cwd=attempt,
        env=os.environ,
        stdout=attempt / "stdout.log",
        stderr=attempt / "stderr.log",
        mark=harness.ATTEMPT_VARIABLE,
    )
    EventWriter(attempt / "events.jsonl").emit("state", state="starting", pid=engine.pid)
    try:
        return _end(engine, run, attempt)
    finally:
        engine.kill()


def _end(engine: process.Child, run: Path, attempt: Path) -> int:
    while (code := engine.wait(_PERIOD)) is None:
        wanted = (attempt / "stop").exists() or not held(run / "lock")
        if wanted and not begun(attempt, RANK):
            return EXIT_STOPPED
    return code if code >= 0 else SIGNALLED - code


def main() -> int:
    """Read the command line."""
    run, attempt, _, *command = sys.argv[1:]
    return keep(Path(run), Path(attempt), command)


if __name__ == "__main__":
    sys.exit(main())
