"""The engine's Python, one tiny model for the session, and runs made by hand."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .hand import Hand, Outcome, make_spec, write_rows

HERE = Path(__file__).parent
VARIABLE = "POST_TRAIN_TRL_PYTHON"
SCORE = """\
def score(completions, answer, **_):
    texts = [completion[0]["content"] for completion in completions]
    return [sum(c.isdigit() for c in text) + 0.01 * len(text) for text in texts]
"""

MakeHand = Callable[..., Hand]
Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def python() -> str:
    """Python of the engine's environment."""
    found = os.environ.get(VARIABLE)
    if not found:
        pytest.skip(f"{VARIABLE} names no Python with TRL")
    return found


@pytest.fixture(scope="session")
def model(python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, its template with generation markers."""
    folder = tmp_path_factory.mktemp("model") / "tiny"
    _make(python, folder)
    return folder


@pytest.fixture(scope="session")
def untied_model(python: str, model: Path) -> Path:
    """A model with an output head of its own."""
    folder = model.with_name("untied")
    _make(python, folder, "untied")
    return folder


@pytest.fixture(scope="session")
def plain_model(model: Path) -> Path:
    """The same model with a template of the same text and no markers."""
    folder = model.with_name("plain")
    shutil.copytree(model, folder)
    template = folder / "chat_template.jinja"
    text = template.read_text(encoding="utf-8")
    unmarked = text.replace("{% generation %}", "").replace("{% endgeneration %}", "")
    assert unmarked != text
    template.write_text(unmarked, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sft.jsonl, dpo.jsonl, grpo.jsonl and reward.py."""
    folder, rows = tmp_path_factory.mktemp("data"), sums()
    write_rows(folder / "sft.jsonl", rows["sft"])
    write_rows(folder / "dpo.jsonl", rows["dpo"])
    write_rows(folder / "grpo.jsonl", rows["grpo"])
    (folder / "reward.py").write_text(SCORE, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def make_hand(python: str, model: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> MakeHand:
    """A run of its own, not started yet."""

    def make(stage: str, method: str, *, base: Path = model, rows: Path | None = None, **settings: Any) -> Hand:
        if stage == "grpo":
            settings["_rl"] = {"reward": [f"{data / 'reward.py'}:score"], **settings.get("_rl", {})}
        folder = tmp_path_factory.mktemp("run")
        return Hand(python, folder, make_spec(stage, method, rows or data / f"{stage}.jsonl", **settings), base)

    return make


@pytest.fixture(scope="session")
def whole_sft(make_hand: MakeHand) -> tuple[Hand, Outcome]:
    """An undisturbed SFT run, the yardstick for every disturbed one."""
    hand = make_hand("sft", "lora", max_steps=8)
    return hand, hand.run()


def sums() -> dict[str, Rows]:
    """Questions with their sums as conversations, pairs and prompts; the same every time."""
    numbers = random.Random(0)
    pairs = [(numbers.randint(0, 99), numbers.randint(0, 99)) for _ in range(48)]
    asked = [([{"role": "user", "content": f"What is {a} + {b} ?"}], a, b) for a, b in pairs]
    return {
        "sft": [{"messages": [*prompt, _answer(f"The sum is {a + b}.")]} for prompt, a, b in asked],
        "dpo": [
            {"prompt": p, "chosen": [_answer(f"{a + b}")], "rejected": [_answer(f"{a - b} no")]} for p, a, b in asked
        ],
        "grpo": [{"prompt": prompt, "answer": str(a + b)} for prompt, a, b in asked],
    }


def _answer(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def _make(python: str, folder: Path, *words: str) -> None:
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    subprocess.run([python, str(HERE / "make_model.py"), str(folder), *words], check=True, timeout=200, env=quiet)
