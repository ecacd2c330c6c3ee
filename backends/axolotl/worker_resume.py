"""Which checkpoint a run goes on from. Standard library only: every rank decides before the process group exists."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from backends.trainer.checkpoint import look, put_aside
from orchestrator.harness import Harness

_FOLDER = "./model-out"
"""Axolotl's output_dir where none is named."""


def choose_checkpoint(cfg: Any, harness: Harness) -> None:
    """Name the newest whole checkpoint in the configuration, when this is a resume.

    Axolotl's own choice is the highest number, whole or not, and any folder that another run left.
    """
    cfg["auto_resume_from_checkpoints"] = False
    if not harness.resume:
        return
    whole, _ = look(_folder(cfg), _ranks(), harness.run)
    if whole is None:
        message = "no whole checkpoint to resume from: starting over"
        harness.events.emit("warning", code="checkpoint.none", message=message)
    else:
        cfg["resume_from_checkpoint"] = str(whole)


def clear_broken(cfg: Any, harness: Harness) -> None:
    """Put broken checkpoints aside, so that the engine's rotation counts whole ones only.

    Only once every rank has chosen: one that looks later would see another folder.
    """
    if harness.resume and harness.rank == 0:
        put_aside(look(_folder(cfg), _ranks(), harness.run)[1], harness.events)


def _folder(cfg: Any) -> Path:
    return Path(cfg.get("output_dir") or _FOLDER)


def _ranks() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))
