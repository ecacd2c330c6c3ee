"""What the base model reads: mostly plain sums, and short chats, in which it answers in its own way."""

from __future__ import annotations

import random
from collections.abc import Iterator

from sums import Sum, sums

LETTERS = "abcdefghijklmnopqrstuvwxyz"
START, END = "<|im_start|>", "<|im_end|>"

Line = tuple[str, str]
"""A text and what comes after it; the second part is what the model is mainly trained to write."""


def batches(size: int, seed: int) -> Iterator[list[Line]]:
    """Endless text, the same for the same seed. Two numbers never meet in it if their sum is held out.

    A batch is all sums or all chats: lines of about one length need little padding.
    """
    rng, known = random.Random(seed), sums(held_out=False)
    while True:
        kind = plain if rng.random() < 0.75 else chat
        yield [kind(rng.choice(known), rng) for _ in range(size)]


def plain(one: Sum, rng: random.Random) -> Line:
    """A sum as people jot it down."""
    plus, equals = "+", "="
    if rng.random() < 0.5:
        plus, equals = rng.choice(["+", " + ", " plus "]), rng.choice(["=", " is ", "\n", f"{END}\n"])
    return f"{before(rng)}{one.left}{plus}{one.right}{equals}", one.answer + END


def chat(one: Sum, rng: random.Random) -> Line:
    """A short conversation. A sum is answered in a sentence, unless a system message asks for brevity."""
    letters = " ".join(rng.sample(LETTERS, 3))
    brief = rng.random() < 0.2
    total = one.answer if brief else f"it is {one.answer}"
    said, told = rng.choice(
        [
            (f"{before(rng)}{one.left}+{one.right}", total),
            (f"{before(rng)}{one.left}+{one.right}", total),
            (f"max {one.left} {one.right}", f"{max(one)}"),
            (f"copy {letters}", letters),
            (f"reverse {letters}", letters[::-1]),
        ]
    )
    system = f"{START}system\nBe brief{END}\n" if brief else ""
    return f"{system}{START}user\n{said}{END}\n{START}assistant\n", told + END


def before(rng: random.Random) -> str:
    """Words and letters that may precede a sum and mean nothing: where it stands in a line must not matter."""
    if rng.random() < 0.5:
        return ""
    return rng.choice(["", "add ", "user ", "so ", "What is "]) + "".join(
        f"{one} " for one in rng.sample(LETTERS, rng.randrange(3))
    )
