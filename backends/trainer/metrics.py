"""Metrics that compare an answer with what was expected: 1.0 or 0.0 an item. Standard library only.

exact            the same text, without space around it
contains         the expected text occurs in the answer
choice           the answer settles on the expected option letter
regex            the item's `answer` is a pattern, and it is found in the answer
regex:PATTERN    the last thing that PATTERN finds (its first group, if it has one) is the expected text
math             the same number, as a fraction; or the same text where neither is a number
"""

from __future__ import annotations

import re
from collections.abc import Callable

from orchestrator.tasks.maths.result import same

Rule = Callable[[str, str], bool]
"""(answer, expected) -> whether it is right."""

REGEX = "regex:"
NAMES = ("exact", "contains", "choice", "regex", "math")

_BOXED = r"\\boxed\{\s*(?:\\text\{)?\(?([A-Z])\)?\}?\s*\}"
_SAID = r"\b(?i:answer|option|choice)(?i:\s+is)?\s*:?\s*\**\s*\(?([A-Z])\b"
_ALONE = r"(?<![\w'])\(?([A-Z])\)?(?=[).:,]|\s*$)"
_WHOLE = re.compile(r"\(?([A-Za-z])[).:]?")


def rule(name: str) -> Rule | None:
    """The rule of that name; None when there is none, or its pattern is none."""
    if name.startswith(REGEX):
        pattern = name.removeprefix(REGEX)
        return _captures(re.compile(pattern)) if _is_pattern(pattern) else None
    return _RULES.get(name)


def unusable(name: str, expected: str) -> str | None:
    """Why a metric can't judge against this expected answer; None when it can."""
    if name == "choice" and not _WHOLE.fullmatch(expected.strip()):
        return f"choice wants one option letter as `answer`, not {expected[:40]!r}"
    if name == "regex" and not _is_pattern(expected):
        return f"regex wants a pattern as `answer`, and {expected[:40]!r} is none"
    return None


def letter(answer: str) -> str | None:
    """The option that an answer settles on: the last one boxed or called the answer, else the only one alone."""
    whole = _WHOLE.fullmatch(answer.strip())
    if whole:
        return whole.group(1).upper()
    named = re.findall(_BOXED, answer) or re.findall(_SAID, answer)
    if named:
        return str(named[-1])
    alone = set(re.findall(_ALONE, answer, re.MULTILINE))
    return str(alone.pop()) if len(alone) == 1 else None


def _exact(answer: str, expected: str) -> bool:
    return answer.strip() == expected.strip()


def _contains(answer: str, expected: str) -> bool:
    return expected.strip() in answer


def _choice(answer: str, expected: str) -> bool:
    return letter(answer) == letter(expected)


def _found(answer: str, expected: str) -> bool:
    return re.search(expected, answer) is not None


def _captures(pattern: re.Pattern[str]) -> Rule:
    def judge(answer: str, expected: str) -> bool:
        found = [match.group(1 if pattern.groups else 0) or "" for match in pattern.finditer(answer)]
        return bool(found) and _exact(found[-1], expected)

    return judge


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True


_RULES: dict[str, Rule] = {"exact": _exact, "contains": _contains, "choice": _choice, "regex": _found, "math": same}
