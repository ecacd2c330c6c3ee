"""Runs the worker on several native files, one after another in one process: importing the engine takes the most time.

run_workers.py NATIVE_FILE... prints the exit codes as a JSON list on the last line.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from backends.hf.worker import work
from orchestrator.harness import ATTEMPT_VARIABLE, RUN_VARIABLE, Harness


def run(native: Path) -> int:
    folder = native.parent.parent
    os.environ |= {RUN_VARIABLE: str(folder), ATTEMPT_VARIABLE: str(folder / "attempts" / "001")}
    sys.argv = ["worker", str(native)]
    return Harness().main(work)


if __name__ == "__main__":
    print(json.dumps([run(Path(name)) for name in sys.argv[1:]]))
