"""Counts what the masks of a dataset would teach, and refuses a dataset that would teach nothing or too much."""

from __future__ import annotations

from backends.trl.worker_mask import Tokens
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError

EMPTY_LIMIT = 0.1
"""Share of rows that may be without loss; above it the run is refused."""


_TAIL = 3
"""Tokens from the end within which a turn's end is looked for: templates write line breaks after it."""


class Census:
    """Takes rows one by one, truncates them, and judges them together.

    Args:
        loss_on: assistant or all.
        ends: ids of tokens that may end a turn.
        length: longest row, tokens; None when rows are packed.
    """

    def __init__(self, loss_on: str, ends: set[int], length: int | None) -> None:
        self._loss_on, self._ends, self._length = loss_on, ends, length
        self.rows = self.plain = self.silent = self.everything = self.endless = self.emptied = self.cut = 0

    def take(self, tokens: Tokens) -> Tokens:
        """Count a row, and return it truncated."""
        self.rows += 1
        taught = [i for i, bit in zip(tokens.ids, tokens.loss, strict=True) if bit]
        self.silent += not taught
        self.plain += tokens.plain
        self.everything += all(tokens.loss) and not tokens.plain
        self.endless += bool(taught) and self._ends.isdisjoint(taught[-_TAIL:])
        short = Tokens(tokens.ids[: self._length], tokens.loss[: self._length])
        self.emptied += bool(taught) and not any(short.loss)
        self.cut += sum(short.loss) < sum(tokens.loss)
        return short

    def judge(self, path: str, events: EventWriter) -> None:
        """Refuse or warn.

        Raises:
            WorkError: no loss in too many rows, loss everywhere, or turns that never end.
        """
        self._refuse_silence(path)
        if self._loss_on == "assistant" and self.everything and self.everything == self.rows - self.plain:
            self._refuse_everything(path)
        if self.endless == self.rows - self.silent:
            raise WorkError(
                "mask.no_end",
                f"{path}: no answer ends with an end-of-turn token that gets loss",
                why="the model would never learn to stop",
                fix="let the chat template write the end-of-turn token inside the assistant's turn",
            )
        lost = self.silent + self.emptied
        if lost or self.cut:
            message = (
                f"{path}: of {self.rows} rows, {self.silent} have no assistant answer, {self.emptied} lost theirs to "
                f"training.max_length {self._length} (all left out); {self.cut - self.emptied} lost a part"
            )
            events.emit("warning", code="mask.truncated" if self.cut else "mask.silent", message=message)

    def _refuse_silence(self, path: str) -> None:
        lost = self.silent + self.emptied
        if lost <= EMPTY_LIMIT * self.rows:
            return
        cause = (
            "have no assistant answer"
            if self.silent >= self.emptied
            else f"lost it to training.max_length {self._length}"
        )
        raise WorkError(
            "mask.empty",
            f"{path}: {lost} of {self.rows} rows give no token with loss; most {cause}",
            why="nothing would be learned from them",
            fix="raise training.max_length or shorten the prompts"
            if self.emptied > self.silent
            else "give these rows an answer by the assistant, or remove them",
        )

    def _refuse_everything(self, path: str) -> None:
        raise WorkError(
            "mask.everything",
            f"{path}: every token of every row gets loss, the user's turns too",
            why="training.loss_on is assistant",
            fix="correct the {% generation %} markers of the chat template, or say training.loss_on: all",
        )
