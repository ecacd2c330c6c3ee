"""A few token ids and what the trained model answers to them: the measure for what is read back from disk."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from backends.trainer.probe import mixed_precision, shard_again

_ROWS, _TOKENS = 4, 64
_TEXT = "The sum of two and three is five, and the sum of five and eight is thirteen."
"""Where the rows are turned into tokens only batch by batch."""


@dataclass(frozen=True)
class Probe:
    """What was asked, in which arithmetic, and what the trained model answered. Holds no reference to the model.

    Attributes:
        rows: token ids, one list a row.
        autocast: dtype of mixed precision, or None.
        logits: (tokens of all rows, vocabulary), float32 on the CPU.
        kind: class of the model under the adapter.
        attention: the kernel it computed with.
        quantization: a copy of its BitsAndBytesConfig, or None.
        sharded: whether the model lay in parts on several devices.
    """

    rows: list[list[int]]
    autocast: Any
    logits: Any
    kind: str
    attention: str
    quantization: Any
    sharded: bool

    @classmethod
    def of(cls, trainer: Any) -> Probe:
        """Ask the trained model. All ranks call it: a sharded model answers only when all of them ask."""
        model = trainer.accelerator.unwrap_model(trainer.model, keep_torch_compile=False)
        base = model.get_base_model() if hasattr(model, "peft_config") else model
        rows, autocast = _rows(trainer), _autocast(trainer.args)
        return cls(
            rows,
            autocast,
            answer(trainer.model, rows, autocast),
            type(base).__name__.removeprefix("FSDP"),
            base.config._attn_implementation,
            copy.deepcopy(getattr(base.config, "quantization_config", None)),
            bool(trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled),
        )


def answer(model: Any, rows: list[list[int]], autocast: Any) -> Any:
    """Logits of every position of every row: (positions, vocabulary), float32 on the CPU."""
    import torch

    device, training = next(model.parameters()).device, model.training
    model.eval()
    with torch.no_grad(), torch.autocast(device.type, dtype=autocast, enabled=autocast is not None):
        logits = [model(input_ids=torch.tensor([row], device=device)).logits[0].float().cpu() for row in rows]
    model.train(training)
    shard_again(model)
    return torch.cat(logits)


def _rows(trainer: Any) -> list[list[int]]:
    dataset = trainer.train_dataset
    if "input_ids" in (getattr(dataset, "column_names", None) or ()) and hasattr(dataset, "__getitem__"):
        return [list(dataset[i]["input_ids"])[:_TOKENS] for i in range(min(_ROWS, len(dataset)))]
    given = trainer.processing_class
    return [list(getattr(given, "tokenizer", given)(_TEXT)["input_ids"])[:_TOKENS]]


def _autocast(args: Any) -> Any:
    import torch

    found = mixed_precision(args)
    return getattr(torch, found) if found else None
