"""The bench of faults counts honestly: a failure that says something else has caught nothing."""

from __future__ import annotations

import pytest

from benchmarks.faults import table
from benchmarks.faults.fault import Fault, Outcome
from benchmarks.faults.lab import Said

FAULT = Fault("D5", "a pointer", lambda lab, faulty: [], "Git-LFS")
CLEAN = Said(0, "advice [data.few_rows] data.train: 40 rows", 0.1)


@pytest.mark.parametrize(
    ("code", "text", "verdict", "where"),
    [
        (3, "error: rows.jsonl:1: this is a Git-LFS pointer", "refused", "plan"),
        (5, "plan of it\n  error [data.fault] rows.jsonl:1: Git-LFS\n1 problem", "refused", "plan"),
        (0, "  advice [data.odd] rows.jsonl: Git-LFS", "told", "plan, advice"),
        (8, "error: the worker failed", "missed", ""),
        (3, "  note: git-lfs stands in the plan only", "missed", ""),
        (0, "", "missed", ""),
    ],
)
def test_verdicts(code: int, text: str, verdict: str, where: str) -> None:
    outcome = Outcome(FAULT, Said(code, text, 0.1), CLEAN)
    assert (outcome.verdict, outcome.where, outcome.false_alarm) == (verdict, where, False)


@pytest.mark.parametrize("twin", [Said(5, "error: something", 0.1), Said(0, "advice [x] a Git-LFS pointer", 0.1)])
def test_false_alarms(twin: Said) -> None:
    assert Outcome(FAULT, Said(3, "error: Git-LFS", 0.1), twin).false_alarm


def test_sums_and_hidden_folders() -> None:
    found = [Outcome(FAULT, Said(3, "error: /tmp/x/rows: Git-LFS | bad", 0.1), CLEAN), Outcome(FAULT, CLEAN, CLEAN)]
    lines = table.lines(found, ["/tmp/x"])
    assert lines[2] == "| D5 | a pointer | refused | plan | 0.1 | `error: rows: Git-LFS \\| bad` |"
    assert lines[-2:] == [
        "2 faults: 1 refused, 0 told as advice, 1 missed; detection rate 50.0%.",
        "0 false alarms on the clean twins.",
    ]
