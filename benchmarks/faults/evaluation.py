"""Evals that would say something else than what was asked."""

from __future__ import annotations

from typing import Any

from benchmarks.faults.data import LEAKS
from benchmarks.faults.fault import Fault, Words
from benchmarks.faults.lab import HELD_OUT, QUICKSTART, Lab, Row


def _eval(faulty: list[str], clean: list[str] | None = None, rows: list[Row] | None = None) -> Words:
    """An eval of the base model alone, with these words or those; `rows`: items in place of good ones."""

    def words(lab: Lab, bad: bool) -> list[str]:
        items = lab.rows(rows if bad and rows else HELD_OUT, "items.jsonl")
        return [
            "eval",
            "--model",
            str(QUICKSTART / "model"),
            "--data",
            items,
            *(faulty if bad else clean or []),
            "--dry-run",
        ]

    return words


_ANSWERLESS: list[dict[str, Any]] = [{"prompt": [{"role": "user", "content": "1 + 1?"}]}]
_MIXED: list[Row] = [*HELD_OUT, {"prompt": "plain text", "answer": "x"}]
_ANSWERED: list[Row] = [{"prompt": [{"role": "assistant", "content": "said already"}], "answer": "x"}]

FAULTS = (
    *LEAKS,
    Fault("E2", "a misspelt metric", _eval(["--metric", "exat"], ["--metric", "exact"]), "unknown metric"),
    Fault("E2", "items without answers", _eval([], rows=_ANSWERLESS), "answer"),
    Fault("E2", "chats and plain texts in one file", _eval([], rows=_MIXED), "mixes"),
    Fault("E2", "a prompt that ends on the answer", _eval([], rows=_ANSWERED), "assistant turn"),
    Fault("E2", "option letters wanted, numbers given", _eval(["--metric", "choice"]), "option letter"),
    Fault(
        "E3",
        "a gate on a model that isn't compared",
        _eval(["--gate", "accuracy>=stf"], ["--gate", "accuracy>=base"]),
        "stf",
    ),
    Fault("E3", "a gate that is no gate", _eval(["--gate", "accuracy=0.5"], ["--gate", "accuracy>=0.5"]), "is no gate"),
    Fault("E2", "a reward file that isn't there", _eval(["--metric", "reward:gone.py:score"]), "no such file"),
)
