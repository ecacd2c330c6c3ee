"""What gets loss in a rendered row, and what would be left of it at a limit of tokens."""

from __future__ import annotations

from data_prep.row import RowFault
from data_prep.tokenizer import Rendered


def refuse(rendered: list[Rendered]) -> None:
    """Refuse a conversation of which nothing would be learned, or the question too.

    Raises:
        RowFault: no token gets loss, or every one does.
    """
    for each in rendered:
        learned = each.learned()
        if learned == 0:
            raise RowFault("no_loss", "no token of it gets loss: the chat template leaves the answer out")
        if learned == len(each.ids):
            raise RowFault("all_loss", "every token of it gets loss: the chat template marks the question as an answer")


def refuse_long(rendered: list[Rendered], limit: int) -> None:
    """Refuse a row that a trainer would cut.

    Raises:
        RowFault: it has more tokens than the limit; says what would be left of its answer.
    """
    longest = max(rendered, key=lambda each: len(each.ids))
    if len(longest.ids) > limit:
        what = f"{len(longest.ids):,} tokens, more than the {limit:,} allowed"
        raise RowFault("max_tokens", what + _left(longest, limit))


def _left(rendered: Rendered, limit: int) -> str:
    before, after = rendered.learned(), rendered.learned_within(limit)
    return f"; cut there, {after:,} of the {before:,} tokens with loss would be left" if before else ""
