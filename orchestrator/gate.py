"""Gates: what an eval must show, as text that CI can hold a model to. Standard library only, nothing is executed.

    SCORE OP LIMIT      accuracy>=sft-0.01    accuracy>0.8    grpo>base+0.05

SCORE is `accuracy` or `score`, the last model's, or a model's label; OP is >=, >, <= or <; LIMIT is a number, a label,
or a label and a number added or taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LAST = ("accuracy", "score")
"""Names of the last model's score."""

_NUMBER = r"[+-]?\s*(?:\d+\.?\d*|\.\d+)"
_LABEL = r"[A-Za-z][\w.]*(?:-[\w.]+)*?"
_GATE = re.compile(
    rf"\s*(?P<left>{_LABEL})\s*(?P<op>>=|<=|>|<)\s*(?:(?P<number>{_NUMBER})|(?P<label>{_LABEL})(?P<shift>\s*{_NUMBER})?)\s*"
)
_EDGE = 1e-9
"""Scores are sums of fractions: what falls short by less than this is equal."""


class GateError(ValueError):
    """A text that is no gate, or names a model that isn't compared."""


@dataclass(frozen=True)
class Gate:
    """One gate.

    Attributes:
        label: whose score; None for the last model's.
        other: label of the model that the limit starts from; None for a bare number.
        shift: added to that model's score, or the limit itself.
    """

    text: str
    label: str | None
    operator: str
    other: str | None
    shift: float


def parse(text: str, labels: Iterable[str] = ()) -> Gate:
    """A gate from text. Labels that end on `-2` need the models' labels to be told from a number taken away.

    Raises:
        GateError: it is none.
    """
    match = _GATE.fullmatch(text)
    if match is None:
        raise GateError(f"{text!r} is no gate")
    known = set(labels)
    other, shift = match["label"], match["shift"]
    whole = (other or "") + (shift or "")
    if whole.strip() in known:
        other, shift = whole.strip(), None
    left = None if match["left"] in LAST else match["left"]
    amount = float((match["number"] or shift or "0").replace(" ", ""))
    return Gate(text.strip(), left, match["op"], other, amount)


def unknown(gate: Gate, labels: Iterable[str]) -> list[str]:
    """Labels that a gate names and no model has."""
    known = set(labels)
    return [name for name in (gate.label, gate.other) if name is not None and name not in known]


def judge(gate: Gate, scores: Mapping[str, float]) -> dict[str, Any]:
    """The gate as it came out: text, score, limit and whether it passed.

    Args:
        scores: label -> score, the last model last.
    """
    score = scores[gate.label] if gate.label else list(scores.values())[-1]
    limit = (scores[gate.other] if gate.other else 0.0) + gate.shift
    above, strict = gate.operator.startswith(">"), not gate.operator.endswith("=")
    ahead = score - limit if above else limit - score
    passed = ahead > _EDGE if strict else ahead >= -_EDGE
    return {"gate": gate.text, "score": score, "limit": limit, "passed": passed}


def line(judged: Mapping[str, Any]) -> str:
    """A judged gate for a person."""
    word = "passed" if judged["passed"] else "FAILED"
    return f"gate {word}: {judged['gate']} ({judged['score']:.4f} against {judged['limit']:.4f})"
