"""Preparing data in a test: small files in, rows, ledger and manifest out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from data_prep.faults import DataFault
from data_prep.inputs import inputs
from data_prep.manifest import DataManifest
from data_prep.options import Options
from data_prep.prepare import prepare
from data_prep.splits import Shares

ALL_TRAIN = Shares(0, 0)


@dataclass(frozen=True)
class Made:
    """A prepared folder, read back."""

    folder: Path
    manifest: DataManifest

    def rows(self, split: str = "train") -> list[dict[str, Any]]:
        """The rows of a split."""
        return _lines(self.folder / f"{split}.jsonl")

    def ledger(self) -> list[tuple[str, str, str]]:
        """Place, what was done, and kind of reason of each line."""
        return [(line["where"], line["action"], line["reason"]) for line in _lines(self.folder / "ledger.jsonl")]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


Prepare = Callable[..., Made]
Refused = Callable[..., DataFault]


@pytest.fixture
def make(work: Path) -> Prepare:
    """Prepare a file; whatever share of its rows is at fault is allowed, and all rows go to train."""

    def call(path: Path, folder: str = "prepared", **options: Any) -> Made:
        given = Options(**{"max_dropped": 1.0, "shares": ALL_TRAIN, **options})
        return Made(work / folder, prepare(inputs([path]), given, work / folder))

    return call


@pytest.fixture
def refused(work: Path) -> Refused:
    """Prepare a file that must be refused, with nothing left behind."""

    def call(path: Path, **options: Any) -> DataFault:
        before = sorted(work.rglob("*"))
        with pytest.raises(DataFault) as caught:
            prepare(inputs([path]), Options(**options), work / "refused")
        assert sorted(work.rglob("*")) == before
        return caught.value

    return call
