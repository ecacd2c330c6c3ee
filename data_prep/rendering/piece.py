"""A stretch of a rendered conversation, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

Spans = list[tuple[int, int]]


class Part(Enum):
    """What a stretch is within its block."""

    SCAFFOLD = "scaffold"
    """Written by the format; no model ever writes it."""
    HEADER = "header"
    """Of a block that the assistant writes, behind the generation prompt: its recipient."""
    BODY = "body"
    """What the author of the message wrote."""
    END = "end"
    """The token that closes the block."""


@dataclass(frozen=True)
class Piece:
    """A stretch of text.

    Attributes:
        text: as rendered.
        part: what it is.
        message: index of the message that it belongs to; None for what belongs to none.
        sampled: written by the model at inference.
    """

    text: str
    part: Part = Part.SCAFFOLD
    message: int | None = None
    sampled: bool = False


def text(pieces: Iterable[Piece]) -> str:
    """All of it."""
    return "".join(piece.text for piece in pieces)


def learned(pieces: Iterable[Piece], first: int = 0) -> Spans:
    """Ranges of the text that the model writes at inference, joined where they touch.

    Args:
        first: index of the first message that counts.
    """
    spans: Spans = []
    at = 0
    for piece in pieces:
        end = at + len(piece.text)
        if piece.sampled and piece.message is not None and piece.message >= first and end > at:
            if spans and spans[-1][1] == at:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((at, end))
        at = end
    return spans
