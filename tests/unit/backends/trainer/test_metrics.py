"""What each metric calls right, with answers as models write them."""

from __future__ import annotations

import pytest

from backends.trainer import metrics
from orchestrator.tasks.maths.result import number, same

RIGHT = [
    ("exact", " 42\n", "42"),
    ("contains", "I think it is 42.", "42"),
    ("choice", "B", "B"),
    ("choice", "(b)", "B"),
    ("choice", "The answer is (C), not A or B.", "C"),
    ("choice", "A looks good. So the answer: **D**", "D"),
    ("choice", "\\boxed{\\text{A}}", "A"),
    ("choice", "A dog has four legs, so B.", "B"),
    ("regex", "it costs 3.50 euros", r"\b3[.,]50\b"),
    (r"regex:answer=(\w+)", "answer=no, answer=yes", "yes"),
    (r"regex:\d+", "7 and 12", "12"),
    ("math", "So 3 + 4 = 7, and 7 * 6 = 42.", "42"),
    ("math", "\\boxed{\\frac{1}{2}}", "0.5"),
    ("math", "The answer is $1,234.50", "1234.5"),
    ("math", "5 * 4 = 20\n#### 20", "#### 20"),
    ("math", "\\boxed{x^2 + 1}", "\\boxed{x^2+1}"),
    ("math", "-3/4", "-0.75"),
    ("math", "\\boxed{\\text{even}}", "even"),
    ("math", "so \\boxed{7} and \\boxed{ unclosed", "7"),
    ("math", "2e3", "2000"),
    ("math", "The answer is 18 dollars, from 3 hens.", "18"),
]
WRONG = [
    ("exact", "43", "42"),
    ("contains", "41", "42"),
    ("choice", "A or B", "A"),
    ("choice", "I don't know", "A"),
    ("choice", "The answer is A.", "B"),
    ("regex", "it costs 4", "^3$"),
    (r"regex:(\d+)", "none", "1"),
    ("math", "first 42, then 41", "42"),
    ("math", "\\boxed{1/3}", "0.333"),
    ("math", "", "0"),
    ("math", "no idea", "5"),
    ("math", "\\boxed{x}", "7"),
    ("math", "1e999999999", "1"),
    ("math", "1/0", "1"),
    ("math", "\\boxed{\\text{even}}", "odd"),
]


def judged(name: str, answer: str, expected: str) -> bool:
    rule = metrics.rule(name)
    assert rule is not None
    return rule(answer, expected)


@pytest.mark.parametrize(("name", "answer", "expected"), RIGHT)
def test_right(name: str, answer: str, expected: str) -> None:
    assert judged(name, answer, expected)


@pytest.mark.parametrize(("name", "answer", "expected"), WRONG)
def test_wrong(name: str, answer: str, expected: str) -> None:
    assert not judged(name, answer, expected)


@pytest.mark.parametrize("name", ["exat", "regex:(", "reward:f.py:g", ""])
def test_no_metric(name: str) -> None:
    assert metrics.rule(name) is None


def test_expected_answers_that_a_metric_cannot_judge_against() -> None:
    assert "option letter" in (metrics.unusable("choice", "Paris") or "")
    assert "pattern" in (metrics.unusable("regex", "(") or "")
    assert [metrics.unusable(name, "B") for name in metrics.NAMES] == [None] * len(metrics.NAMES)


@pytest.mark.parametrize(("text", "value"), [("1,000", 1000), ("50\\%", 50), ("\\$5", 5), ("1,00", None), ("", None)])
def test_numbers(text: str, value: int | None) -> None:
    assert number(text) == value


def test_a_result_is_itself() -> None:
    assert same("7", "7.0")
