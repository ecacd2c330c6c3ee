"""JSON lines -> batches."""

from __future__ import annotations

from collections.abc import Iterator

from data_prep.batch import LONGEST, Batch, Lines, Values, too_long
from data_prep.opening import Opened


def batches(opened: Opened) -> Iterator[Batch]:
    """Whole lines, about a block each. A line past the longest allowed is skipped without being held."""
    path, number, held, size = str(opened.path), 1, list[bytes](), 0
    while block := opened.block():
        if size > LONGEST:
            end = block.find(b"\n")
            size += len(block) if end < 0 else end
            if end < 0:
                continue
            yield Values(path, [too_long(number, size)])
            number, block, size, held = number + 1, block[end + 1 :], 0, []
        cut = block.rfind(b"\n") + 1
        if cut:
            text = b"".join([*held, block[:cut]])
            yield Lines(path, number, text)
            number, held, size = number + text.count(b"\n"), [], 0
        held, size = [*held, block[cut:]], size + len(block) - cut
        if size > LONGEST:
            held = []
    if size > LONGEST:
        yield Values(path, [too_long(number, size)])
    elif last := b"".join(held):
        yield Lines(path, number, last)
