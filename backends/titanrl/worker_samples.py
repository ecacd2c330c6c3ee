"""Follows the file into which TitanRL records episodes, and leaves a page for each step in the run's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backends.titanrl.samples import Record, page
from orchestrator.harness import Harness

FOLDER, RECORDED = "samples", "rollout_samples.jsonl"
"""Pages, in the run's folder; what TitanRL writes, in its own."""
_KINDS = {False: ("training", "step"), True: ("validation", "validation")}


class Samples:
    """What was recorded since the page before. What an earlier attempt recorded has its pages already."""

    def __init__(self, recorded: Path, folder: Path) -> None:
        self._recorded, self._folder = recorded, folder
        self._offset = recorded.stat().st_size if recorded.is_file() else 0
        self._waiting: dict[bool, list[Record]] = {False: [], True: []}

    def write(self, step: int, numbers: Mapping[str, Any], *, validation: bool) -> None:
        """Leave the page of a step; none where nothing was recorded."""
        self._read()
        records, self._waiting[validation] = self._waiting[validation], []
        if not records:
            return
        kind, name = _KINDS[validation]
        self._folder.mkdir(exist_ok=True)
        text = page(step, kind, numbers, records)
        (self._folder / f"{name}-{step:06d}.md").write_text(text, encoding="utf-8")

    def _read(self) -> None:
        """Whole lines only; the one that is being written is for the next time."""
        if not self._recorded.is_file():
            return
        with self._recorded.open("rb") as file:
            file.seek(self._offset)
            whole = file.read().rpartition(b"\n")[0]
        self._offset += len(whole) + 1 if whole else 0
        for line in whole.splitlines():
            record = json.loads(line)
            self._waiting[bool(record.get("is_validation"))].append(record)


def samples_of(harness: Harness, folder: Path) -> Samples | None:
    """Pages for a run whose TitanRL writes into `folder`; none for a worker that was started by hand."""
    return Samples(folder / RECORDED, harness.run / FOLDER) if harness.run else None
