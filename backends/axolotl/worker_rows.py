"""The first batches as they go into the model: which tokens get loss is looked at before a weight moves."""

from __future__ import annotations

from typing import Any

from backends.trainer.marked import IGNORED, show
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError

_BATCHES = 4
"""A whole pass would delay the first step of a large dataset."""


class RowCheck:
    """Looks at the labels of the first batches, on every rank at its own."""

    def __init__(self, cfg: Any, trainer: Any, events: EventWriter) -> None:
        self._trainer, self._events, self._left = trainer, events, _BATCHES
        self._masks = masks_prompts(cfg)

    def watch(self) -> None:
        """Look before each of the next steps, then step aside."""
        step = self._trainer.training_step

        def checked(model: Any, inputs: dict[str, Any], *rest: Any, **more: Any) -> Any:
            self._look(inputs)
            if self._left == 0:
                del self._trainer.training_step
            return step(model, inputs, *rest, **more)

        self._trainer.training_step = checked

    def _look(self, inputs: dict[str, Any]) -> None:
        rows = self._rows(inputs)
        if rows and self._left == _BATCHES:
            show(*rows[0], self._tokenizer, self._events)
        self._left -= 1
        for row in rows:
            self._refuse_empty(*row)
        if self._masks and rows and all(IGNORED not in labels for _, labels in rows):
            raise WorkError(
                "mask.everything",
                "every token of the first batch gets loss, the prompts too",
                why="training.loss_on says that only answers should",
                fix="set training.loss_on: all if that is meant, or give rows whose template tells turns apart",
            )

    @property
    def _tokenizer(self) -> Any:
        given = self._trainer.processing_class
        return getattr(given, "tokenizer", given)

    def _rows(self, inputs: dict[str, Any]) -> list[tuple[list[int], list[int]]]:
        """Token ids and labels of each row, without padding."""
        ids, labels, mask = inputs.get("input_ids"), inputs.get("labels"), inputs.get("attention_mask")
        if ids is None or labels is None or ids.dim() != 2:
            return []
        kept = mask > 0 if mask is not None and mask.shape == ids.shape else ids != self._tokenizer.pad_token_id
        return [(ids[i][kept[i]].tolist(), labels[i][kept[i]].tolist()) for i in range(len(ids))]

    def _refuse_empty(self, ids: list[int], labels: list[int]) -> None:
        if any(label != IGNORED for label in labels):
            return
        raise WorkError(
            "mask.nothing",
            f"a training row has no token with loss: {self._tokenizer.decode(ids[:40])!r}",
            why="its answer was cut off, or its turns have other roles than those trained on",
            fix="raise training.max_length, or look at the roles of this row",
        )


def masks_prompts(cfg: Any) -> bool:
    """Whether some token of every row should stay without loss: not where rows are plain text."""
    plain = cfg.pretraining_dataset or any(entry.get("type") == "completion" for entry in cfg.datasets or [])
    return not cfg.train_on_inputs and not plain
