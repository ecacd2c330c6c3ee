"""Which split a row belongs to: a seeded hash of its prompt, so that it stays there when other rows come or go.

The prompt decides, and not the whole row: two answers to one question never lie on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from data_prep.jsontext import dump_plain
from data_prep.row import Message, Row

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
_WHOLE = float(2**64)


@dataclass(frozen=True)
class Shares:
    """How much goes where; the rest is for training."""

    validation: float = 0.05
    test: float = 0.0
    seed: int = 42

    def split(self, prompt: bytes) -> Split:
        """The split of a prompt."""
        number = blake2b(prompt, digest_size=8, key=b"split %d" % self.seed).digest()
        place = int.from_bytes(number, "big") / _WHOLE
        if place < self.test:
            return "test"
        return "validation" if place < self.test + self.validation else "train"


def prompt(row: Row) -> bytes:
    """What was asked: everything before the first answer. Case and space make no other question."""
    if "text" in row:
        return _plain(str(row["text"]))
    turns = row["messages"] if "messages" in row else row["prompt"]
    texts = list[bytes]()
    for turn in turns:
        if turn["role"] == "assistant":
            break
        texts.append(normal(turn))
    return b"\x1f".join(texts)


def normal(turn: Message) -> bytes:
    """What a turn says; case and space make no other text."""
    content = turn.get("content") or ""
    return _plain(content) if isinstance(content, str) else dump_plain(content)


def _plain(text: str) -> bytes:
    return " ".join(text.casefold().split()).encode()
