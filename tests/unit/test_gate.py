"""Gates: what is one, what is none, and who passes."""

from __future__ import annotations

import pytest

from orchestrator import gate

SCORES = {"base": 0.2, "sft": 0.6, "sft-2": 0.7, "grpo": 0.65}


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("accuracy>=0.65", True),
        ("score > 0.65", False),
        ("accuracy>=sft-0.01", True),
        ("accuracy>=sft+.05", True),
        ("accuracy >= sft + 0.06", False),
        ("sft<grpo", True),
        ("base<=0.2", True),
        ("accuracy>=sft-2", False),
        ("sft-2>sft", True),
        ("grpo>-1", True),
    ],
)
def test_judged(text: str, passed: bool) -> None:
    assert gate.judge(gate.parse(text, SCORES), SCORES)["passed"] is passed


@pytest.mark.parametrize(
    "text", ["", "accuracy", "accuracy>=", "a=b", "a>b>c", "a>=b*2", "__import__('os').system('x')>0", "accuracy>=1e3x"]
)
def test_no_gate(text: str) -> None:
    with pytest.raises(gate.GateError):
        gate.parse(text)


def test_names_of_no_model() -> None:
    assert gate.unknown(gate.parse("dpo>=stf-0.01"), SCORES) == ["dpo", "stf"]
    assert gate.unknown(gate.parse("accuracy>=0.5"), SCORES) == []


def test_a_line_for_a_person() -> None:
    judged = gate.judge(gate.parse("accuracy>=sft"), SCORES)
    assert gate.line(judged) == "gate passed: accuracy>=sft (0.6500 against 0.6000)"
