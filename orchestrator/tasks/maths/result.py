"""The final result of a worked answer, as a number: for tasks and for eval's metric `math`.

The result is what stands in the last \\boxed{}, else after the last ####, else after the last "answer is", else the
last number of the text. Thousands commas, units of money and percent signs say nothing about the number: 50 % is 50.
"""

from __future__ import annotations

import re
from fractions import Fraction

from orchestrator.tasks.maths.boxed import last_boxed

_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?"
_PLAIN = re.compile(rf"({_NUMBER})(?:\s*/\s*({_NUMBER}))?")
_FRACTION = re.compile(r"([-+]?)\\[dt]?frac\{([^{}]+)\}\{([^{}]+)\}")
_DECORATION = re.compile(r"\\(?:text|mathrm|mbox)\{[^{}]*\}|\\left|\\right|\\[,;!:]|\\[$%]|[$%€£\s~°]|^\*+|\*+$")
_WORDS = re.compile(r"\\(?:text|mathrm|mbox)\{([^{}]*)\}")
_LAST = re.compile(r"(?<![\w.])[-+]?[$€£]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?:/\d+(?:\.\d+)?)?")
_SAID = re.compile(r"\banswer(?:\s+is)?\s*:?\s*(.+)", re.IGNORECASE)
_LONGEST, _LONGEST_EXPONENT = 200, 400
"""Characters, and powers of ten: a longer number is none, and would fill the memory."""


def same(answer: str, expected: str) -> bool:
    """Whether two worked answers end on equal results."""
    return equal(final(answer), final(expected))


def equal(left: str, right: str) -> bool:
    """Whether two results are equal: as numbers, or as text without space and decoration where they are none."""
    found, wanted = number(left), number(right)
    if wanted is None or found is None:
        return wanted is found and _bare(_WORDS.sub(r"\1", left)) == _bare(_WORDS.sub(r"\1", right)) != ""
    return found == wanted


def final(text: str) -> str:
    """The result that a text ends on."""
    boxed = last_boxed(text)
    if boxed is not None:
        return boxed
    if "####" in text:
        return text.rpartition("####")[2].strip()
    said = _SAID.findall(text)
    if said and (number(said[-1]) is not None or _LAST.search(said[-1])):
        return _first_number(said[-1])
    if number(text) is not None:
        return text
    numbers: list[str] = _LAST.findall(text)
    return numbers[-1] if numbers else text


def number(text: str) -> Fraction | None:
    """The number that a text is, decoration aside; None when it is none."""
    if len(text) > _LONGEST:
        return None
    bare = _bare(text).rstrip(".,")
    inner = _FRACTION.fullmatch(bare)
    if inner:
        return _over(inner[1] + inner[2], inner[3])
    match = _PLAIN.fullmatch(bare)
    return _over(match[1], match[2] or "1") if match else None


def _first_number(text: str) -> str:
    if number(text) is not None:
        return text
    found = _LAST.search(text)
    return found.group() if found else text


def _over(above: str, below: str) -> Fraction | None:
    try:
        exponents = re.findall(r"[eE]([-+]?\d+)", f"{above} {below}")
        if any(abs(int(exponent)) > _LONGEST_EXPONENT for exponent in exponents):
            return None
        return Fraction(above.replace(",", "")) / Fraction(below.replace(",", ""))
    except (ValueError, ZeroDivisionError):
        return None


def _bare(text: str) -> str:
    return _DECORATION.sub("", text)
