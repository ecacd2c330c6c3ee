"""How tokens are chosen. A sampled answer is the same whatever the batch it is generated in.

Greedy search over logits to which Gumbel noise is added draws from their softmax (Gumbel-max). The noise of each prompt
comes from a stream of its own, so neither neighbours nor the batch's size change what a prompt draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import LogitsProcessor, LogitsProcessorList, TemperatureLogitsWarper, TopPLogitsWarper

_APART = 0x9E3779B1
"""How far the streams of two seeds lie apart, modulo 2^32: torch's CPU generator takes no more of a seed than that."""


@dataclass(frozen=True)
class Sampling:
    """Temperature 0 takes the likeliest token, and then nothing else matters."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


GREEDY = Sampling()


class _Noise(LogitsProcessor):  # type: ignore[misc]
    """Adds Gumbel noise, each row from its own stream; drawn on the CPU, so that every device draws the same."""

    def __init__(self, seed: int, streams: Sequence[int]) -> None:
        self._streams = [torch.Generator().manual_seed(stream_seed(seed, one)) for one in streams]

    def __call__(self, _: Any, scores: torch.Tensor) -> torch.Tensor:
        width = scores.shape[1]
        drawn = torch.stack([torch.empty(width).exponential_(generator=one) for one in self._streams])
        return scores.float() - drawn.log().to(scores.device)


def stream_seed(seed: int, stream: int) -> int:
    """What a stream's generator is seeded with."""
    return (seed * _APART + stream) % 2**32


def processors(sampling: Sampling, streams: Sequence[int]) -> LogitsProcessorList:
    """What makes greedy search draw as `sampling` says; nothing for temperature 0."""
    if sampling.temperature == 0:
        return LogitsProcessorList()
    top_p = [TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []
    warped = [TemperatureLogitsWarper(sampling.temperature), *top_p]
    return LogitsProcessorList([*warped, _Noise(sampling.seed, streams)])
