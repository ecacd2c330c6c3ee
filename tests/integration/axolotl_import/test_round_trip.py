"""An imported configuration means the same: Axolotl reads the original and what we would train from, key by key."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.axolotl_differences import unexplained
from benchmarks.axolotl_import import Trip, compared

from .configurations import EQUAL, LOCAL, STOPPED

pytestmark = pytest.mark.integration
VARIABLE, COLLECTION = "POST_TRAIN_AXOLOTL_PYTHON", "POST_TRAIN_AXOLOTL_CONFIGS"
ROWS = '{"messages": [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]}\n'
_STATED = {"axolotl.fsdp2_checkpointing", "axolotl.processes"}
"""What the plan refuses though Axolotl starts it: adapters that a reload would skip, and more ranks than GPUs."""


@pytest.fixture(scope="module")
def python() -> str:
    """Python of the engine's environment."""
    found = os.environ.get(VARIABLE)
    if not found:
        pytest.skip(f"{VARIABLE} names no Python with Axolotl")
    return found


def _send(folder: Path, texts: dict[str, str], python: str) -> dict[str, Trip]:
    for name, text in texts.items():
        (folder / f"{name}.yml").write_text(text, encoding="utf-8")
    return {Path(trip.name).stem: trip for trip in compared(sorted(folder.glob("*.yml")), python)}


def test_our_own_configurations_come_through_equal(python: str, tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(ROWS, encoding="utf-8")
    local = LOCAL.format(rows=tmp_path / "chat.jsonl")
    trips = _send(tmp_path, {**EQUAL, **STOPPED, "local": local}, python)
    groups = {name: (trip.group, trip.reason) for name, trip in trips.items()}
    assert {n: groups[n] for n in (*EQUAL, "local")} == dict.fromkeys((*EQUAL, "local"), ("equal", ""))
    assert {name: groups[name][0] for name in STOPPED} == dict.fromkeys(STOPPED, "engine")
    assert trips["local"].ours
    assert not [f for trip in trips.values() if trip.group == "equal" for f in trip.checks]


def test_a_difference_is_seen() -> None:
    before = {"learning_rate": 1e-5, "fsdp_config": {"offload_params": True}, "seed": None, "adam_eps": 1}
    after = {"learning_rate": 2e-5, "fsdp_config": {"offload_params": None}, "seed": 42}
    found = [one.key for one in unexplained(before, after, ["adam_eps"])]
    assert found == ["fsdp_config.offload_params", "learning_rate"]


def test_configurations_from_elsewhere_come_through_equal(python: str) -> None:
    folder = Path(os.environ.get(COLLECTION, ""))
    if not os.environ.get(COLLECTION) or not folder.is_dir():
        pytest.skip(f"{COLLECTION} names no folder with configurations")
    trips = compared(sorted(p for p in folder.rglob("*") if p.suffix in (".yml", ".yaml")), python)
    counts = Counter(trip.group for trip in trips)
    assert counts["equal"] >= 0.95 * (counts["equal"] + counts["different"]), [
        (trip.name, trip.reason) for trip in trips if trip.group == "different"
    ]
    assert {f.code for trip in trips if trip.group == "equal" for f in trip.checks} <= _STATED
