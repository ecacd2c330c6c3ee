"""Where a rank is: among how many, and in which folder. Standard library only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from orchestrator.harness import WorkError

RANKS_VARIABLE = "POST_TRAIN_RANKS"


def require_ranks() -> None:
    """Refuse to train among another number of ranks than planned: each would train by itself, into one folder.

    Raises:
        WorkError: the launcher started another number.
    """
    planned, started = os.environ.get(RANKS_VARIABLE), os.environ.get("WORLD_SIZE", "1")
    if planned is not None and planned != started:
        raise WorkError(
            "ranks.number",
            f"{started} of {planned} ranks were started",
            why="torchrun's arguments count only after `--`; without them one worker starts, or several train alone",
            fix="start the run with post-train, or with the command in the native file's first lines",
        )


def enter_rows_folder(cfg: Any) -> None:
    """Go where the rows lie, when they name images: paths in them are relative to their file."""
    named = next(iter(cfg.get("datasets") or []), None) if cfg.get("processor_type") else None
    path = Path(str(named.get("path"))) if named else None
    if path is not None and path.is_absolute() and path.is_file():
        os.chdir(path.parent)
