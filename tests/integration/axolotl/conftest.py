"""The engine's Python, rows of its own, runs made by hand. A start of Axolotl costs some 20 s: look often at one."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .hand import Hand, Outcome, make_spec

VARIABLE = "POST_TRAIN_AXOLOTL_PYTHON"

MakeHand = Callable[..., Hand]


@pytest.fixture(scope="session")
def python() -> str:
    """Python of the engine's environment."""
    found = os.environ.get(VARIABLE)
    if not found:
        pytest.skip(f"{VARIABLE} names no Python with Axolotl")
    return found


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.jsonl and held_out.jsonl: sums, in chat form."""
    folder, numbers = tmp_path_factory.mktemp("data"), random.Random(0)
    for name, count in (("train", 32), ("held_out", 8)):
        rows = [_sum(numbers.randint(10, 99), numbers.randint(10, 99)) for _ in range(count)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def make_hand(python: str, data: Path, tmp_path_factory: pytest.TempPathFactory) -> MakeHand:
    """A run by method, and training settings."""

    def make(method: str, *, train: Path | None = None, **training: Any) -> Hand:
        spec = make_spec(method, train or data / "train.jsonl", **training)
        return Hand(python, tmp_path_factory.mktemp("run"), spec)

    return make


@pytest.fixture(scope="session")
def whole_lora(make_hand: MakeHand, data: Path) -> tuple[Hand, Outcome]:
    """An undisturbed LoRA run with validation; dropout makes every random number count."""
    hand = make_hand("lora", **LORA, **held_out(data))
    return hand, hand.run()


LORA: dict[str, Any] = {"max_steps": 8, "eval_steps": 4, "_lora": {"dropout": 0.1}}


def held_out(data: Path) -> dict[str, Any]:
    """The section that names rows for validation."""
    return {"_data": {"eval": str(data / "held_out.jsonl")}}


def _sum(a: int, b: int) -> dict[str, Any]:
    question = {"role": "user", "content": f"What is {a}+{b}"}
    return {"messages": [question, {"role": "assistant", "content": str(a + b)}]}
