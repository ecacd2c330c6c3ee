"""Answers in batches, the same as one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessorList

from backends.trainer.sampling import GREEDY, Sampling, processors
from orchestrator.harness import WorkError

Ids = list[int]


@dataclass(frozen=True)
class Answer:
    """What a model wrote: token ids without the end token, whether it came to its end, and how many it generated.

    Attributes:
        end: the token that it ended with, if it did.
    """

    ids: tuple[int, ...]
    ended: bool
    generated: int
    end: int | None = None


def answers(
    model: Any,
    prompts: list[Ids],
    *,
    ends: frozenset[int],
    pad: int,
    batch_size: int,
    max_new_tokens: int,
    sampling: Sampling = GREEDY,
    streams: Sequence[int] | None = None,
    progress: Callable[[int], None],
) -> list[Answer]:
    """One answer for each prompt, in the order of the prompts.

    Prompts of like length go together, which keeps padding short; the longest go first, so that a batch that does not
    fit in memory fails at once. Padding is on the left and masked, so an answer doesn't depend on its neighbours.

    Args:
        sampling: how tokens are chosen.
        streams: number of each prompt's stream of random numbers; unset: its place in `prompts`.
        progress: called with the number of prompts answered so far.
    """
    order = sorted(range(len(prompts)), key=lambda i: -len(prompts[i]))
    config = GenerationConfig(
        do_sample=False, max_new_tokens=max_new_tokens, eos_token_id=sorted(ends), pad_token_id=pad
    )
    found: dict[int, Answer] = {}
    numbers = range(len(prompts)) if streams is None else streams
    with _only(model, config):
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            rows = _generate(model, [prompts[i] for i in batch], pad, processors(sampling, [numbers[i] for i in batch]))
            found.update({i: answer(row, ends) for i, row in zip(batch, rows, strict=True)})
            progress(len(found))
    return [found[i] for i in range(len(prompts))]


@contextmanager
def _only(model: Any, config: GenerationConfig) -> Iterator[None]:
    """Generation by these settings alone. Passed on, penalties that the model ships would fill what is unset here."""
    bare = model.get_base_model() if hasattr(model, "get_base_model") else model
    shipped, bare.generation_config = bare.generation_config, config
    try:
        yield
    finally:
        bare.generation_config = shipped


def _generate(model: Any, prompts: list[Ids], pad: int, processors: LogitsProcessorList) -> list[Ids]:
    width = max(map(len, prompts))
    ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts], device=model.device)
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=model.device)
    try:
        with torch.inference_mode():
            output = model.generate(input_ids=ids, attention_mask=mask, logits_processor=processors)
    except torch.OutOfMemoryError as error:
        text = f"{len(prompts)} prompts of up to {width} tokens don't fit in memory together"
        raise WorkError("memory.out", text, fix="halve eval.batch_size") from error
    return [list(row) for row in output[:, width:].tolist()]


def answer(row: Ids, ends: frozenset[int]) -> Answer:
    """Generated tokens up to the first that ends an answer."""
    end = next((n for n, token in enumerate(row) if token in ends), None)
    if end is None:
        return Answer(tuple(row), False, len(row))
    return Answer(tuple(row[:end]), True, end + 1, row[end])
