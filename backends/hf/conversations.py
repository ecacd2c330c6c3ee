"""The episodes of one model as a page to read. Standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from backends.trainer import conversation

Row = dict[str, Any]

SHOWN = 20
"""Episodes on a page: the same samples for every model."""


def page(model: Row, answered: Sequence[Row]) -> str:
    """Markdown: what was measured over all episodes, then the first of them.

    Args:
        model: its row of the report.
        answered: rows of items.jsonl.
    """
    label = model["label"]
    ends = Counter(row["models"][label]["end"] for row in answered).most_common()
    head = [f"# {label}", "", f"- reward: {model['score']:.4g}"]
    head += [f"- {name}: {found['score']:.4g}" for name, found in model["rewards"].items()]
    head += [
        "",
        f"{len(answered)} episodes ({', '.join(f'{count} {end}' for end, count in ends)}); here {SHOWN} at most.",
    ]
    return "\n".join([*head, *(line for row in answered[:SHOWN] for line in _episode(row, label))]) + "\n"


def _episode(row: Row, label: str) -> Iterator[str]:
    found = row["models"][label]
    parts = ", ".join(f"{name} {value:.4g}" for name, value in found["rewards"].items())
    yield from (
        "",
        f"## {row['sample']}: reward {found['score']:.4g} ({parts}), {found['turns']} turns, {found['end']}",
    )
    yield from conversation.lines([*row["prompt"], *found["messages"]])
