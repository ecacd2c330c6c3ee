"""Weights that a model folder doesn't give: transformers makes random ones for them, and says so in a log line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestrator.harness import WorkError


def refuse(folder: str | Path, told: dict[str, Any]) -> None:
    """Nothing when every weight of the model came from the folder.

    Args:
        told: what `from_pretrained` gives with `output_loading_info`.

    Raises:
        WorkError: some are not there, or have another shape.
    """
    absent = sorted(told["missing_keys"])
    wrong = sorted(str(entry[0]) for entry in told["mismatched_keys"])
    if absent or wrong:
        names = ", ".join([*absent, *wrong][:5])
        raise WorkError(
            "model.random_weights",
            f"{folder}: {len(absent)} tensors are missing and {len(wrong)} have another shape ({names})",
            why="they would start from random values",
            fix="check that the folder is complete and that its config.json belongs to these weights",
        )
