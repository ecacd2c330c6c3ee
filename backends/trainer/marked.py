"""A row as the model sees it, what gets loss between brackets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestrator.events import EventWriter

IGNORED = -100
"""Label of a token that gets no loss."""

_OPEN, _CLOSE = "⟦", "⟧"


def show(ids: Iterable[int], labels: Iterable[int], tokenizer: Any, events: EventWriter) -> None:
    """Write a row as a `sample` event.

    Args:
        ids: token ids, without padding.
        labels: as many, -100 where a token gets no loss.
    """
    pieces, on = [], False
    for token, label in zip(ids, labels, strict=True):
        if (label != IGNORED) != on:
            pieces.append(_CLOSE if on else _OPEN)
            on = not on
        pieces.append(tokenizer.decode([token]))
    events.emit("sample", step=0, marked="".join(pieces) + (_CLOSE if on else ""), loss_between=_OPEN + _CLOSE)
