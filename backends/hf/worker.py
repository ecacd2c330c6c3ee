"""Entry of the hf worker: reads its native file and does that stage.

Runs in the hf environment; the heavy imports wait until the leash holds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from orchestrator.harness import Harness, WorkError


def work(harness: Harness, native_file: Path) -> None:
    """Do the stage that the native file names."""
    settings = yaml.safe_load(native_file.read_text(encoding="utf-8"))
    harness.events.emit("state", state="loading")
    from transformers.utils import logging

    logging.disable_progress_bar()  # events carry the progress
    if settings["stage"] == "merge":
        from backends.hf.worker_merge import merge

        merge(harness, settings)
    elif settings["stage"] == "eval" and "task" in settings:
        from backends.hf.worker_play import evaluate as play

        play(harness, settings)
    elif settings["stage"] == "eval" and "benchmarks" in settings:
        from backends.hf.worker_benchmarks import evaluate as benchmark

        benchmark(harness, settings)
    elif settings["stage"] == "eval":
        from backends.hf.worker_eval import evaluate

        evaluate(harness, settings)
    elif settings["stage"] == "verify":
        from backends.hf.worker_recheck import recheck

        recheck(harness, settings)
    else:
        what = f"{native_file} names the stage {settings['stage']!r}"
        raise WorkError("hf.stage", what, fix="write merge, eval or verify")


if __name__ == "__main__":
    sys.exit(Harness().main(work))
