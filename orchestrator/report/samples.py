"""A few items with the answers of all models side by side, wrong ones first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from orchestrator.report.evaluation import Answer, Evaluation, Item
from orchestrator.report.figures import number
from orchestrator.report.markup import Html, element, join, table

COUNT, _WRONG = 20, 15
_LONGEST = 4000
"""Characters shown of one text."""


def samples(found: Evaluation, items: Sequence[Item]) -> Html:
    """A table of picked items."""
    labels = [model.label for model in found.models]
    low, high = picked(items, labels[-1])
    what = ("got wrong", "got right") if found.binary else ("scored low on", "scored best on")
    note = f"{len(low)} items that {labels[-1]} {what[0]}, then {len(high)} that it {what[1]}; taken evenly from all."
    rows = [_row(item, labels, found.binary) for item in (*low, *high)]
    return join(element("p", note, class_="quiet"), table(["prompt", "expected", *labels], rows, class_="samples"))


def picked(items: Sequence[Item], label: str) -> tuple[list[Item], list[Item]]:
    """Items on which this model scored below the best score seen, and others; evenly spread, `COUNT` together."""
    scores = {item.item: item.models[label].score for item in items if label in item.models}
    best = max([1.0, *scores.values()])
    low = [item for item in items if scores.get(item.item, best) < best]
    high = [item for item in items if scores.get(item.item) == best]
    some = min(len(low), max(_WRONG, COUNT - len(high)))
    return _spread(low, some), _spread(high, COUNT - some)


def _spread(items: list[Item], count: int) -> list[Item]:
    if len(items) <= count:
        return items
    return [items[n * len(items) // count] for n in range(count)]


def _row(item: Item, labels: list[str], binary: bool) -> list[object]:
    asked = element("td", prompt(item.prompt), title=f"item {item.item}")
    answers = (_answer(item.models.get(label), binary) for label in labels)
    return [asked, "" if item.expected is None else _text(item.expected), *answers]


def prompt(value: Any) -> Html:
    """A prompt: text as it is, messages each under its role."""
    if not isinstance(value, list):
        return _text(value)
    return join(*(_message(one) for one in value))


def _message(one: Any) -> Html:
    if not isinstance(one, dict):
        return _text(one)
    role = element("span", one.get("role", "?"), class_="role")
    return join(role, _text(one.get("content", "")))


def _answer(found: Answer | None, binary: bool) -> Html:
    if found is None:
        return element("td", "no answer kept", class_="quiet")
    if not binary:
        return element("td", _text(found.answer), element("span", f"score {number(found.score)}", class_="quiet"))
    mark, kind = ("✓", "right") if found.score == 1.0 else ("✗", "wrong")
    sign = element("span", mark, class_="mark", title=kind, role="img", aria_label=kind)
    return element("td", element("div", sign, _text(found.answer), class_="answer"), class_=kind)


def _text(value: Any) -> Html:
    whole = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if not whole.strip():
        return element("pre", "(empty)", class_="quiet")
    rest = len(whole) - _LONGEST
    more = element("span", f" … and {rest} more characters", class_="quiet") if rest > 0 else None
    return element("pre", whole[:_LONGEST], more)
