"""Proof of a merge: the merged model, read back from disk, answers like base plus adapter."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from backends.hf import worker_model
from backends.hf.worker_adapter import Adapter
from orchestrator.harness import UNTRAINED_VARIABLE, WorkError

PROMPTS = (
    "The capital of France is",
    "def add(a, b):\n    return",
    "What is 48+68?",
    "Once upon a time there was a",
    "1, 2, 3, 5, 8, 13,",
)
TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}
"""Stored dtype -> largest logit difference allowed, as a share of the largest logit (at least 1)."""

Look = Callable[[Any], None]

_MOST_TOKENS = 64
_LOST = 0.5


@dataclass(frozen=True)
class Proof:
    """What was measured, in logits.

    Attributes:
        difference: largest absolute difference between merged model and base plus adapter.
        tolerance: the largest that is allowed.
        effect: largest absolute difference that the adapter makes.
        lost: root mean square of the first difference over that of the effect.
    """

    difference: float
    tolerance: float
    effect: float
    lost: float

    def metrics(self) -> dict[str, float]:
        """Names and numbers for the result event."""
        return {
            "max_abs_logit_difference": self.difference,
            "logit_tolerance": self.tolerance,
            "adapter_logit_effect": self.effect,
            "error_share_of_effect": self.lost,
        }


def prove(
    base: Path, adapter: Adapter, merged: Path, tokenizer: Any, *, trust: bool, dtype: torch.dtype, look: Look
) -> Proof:
    """Compare the merged folder, stored as `dtype`, with base plus adapter.

    Args:
        look: called with the merged model as loaded, once it is proved.

    Raises:
        WorkError: they differ beyond the tolerance, the adapter changes nothing, or the dtype swallowed its change.
    """
    batches = [torch.tensor([tokenizer(p)["input_ids"][:_MOST_TOKENS]]) for p in PROMPTS]
    where = worker_model.roomy(base)
    wanted, plain = _reference(base, adapter, batches, trust, where)
    model = worker_model.load(merged, trust=trust, dtype=where.dtype, where=where.device)
    proof = _measure(wanted, plain, _logits(model, batches), TOLERANCE[dtype])
    _judge(proof, str(dtype).removeprefix("torch."))
    look(model)
    return proof


def _reference(
    base: Path, adapter: Adapter, batches: list[Tensor], trust: bool, where: worker_model.Place
) -> tuple[Tensor, Tensor]:
    model = worker_model.load(base, trust=trust, dtype=where.dtype, where=where.device)
    wrapped = worker_model.attach(model, adapter)
    wanted = _logits(wrapped, batches)
    with wrapped.disable_adapter():
        return wanted, _logits(wrapped, batches)


def _logits(model: Any, batches: list[Tensor]) -> Tensor:
    """Logits of every position of every prompt: (positions, vocabulary)."""
    with torch.inference_mode():
        return torch.cat([model(input_ids=ids.to(model.device)).logits[0].float().cpu() for ids in batches])


def _measure(wanted: Tensor, plain: Tensor, got: Tensor, share: float) -> Proof:
    if wanted.shape != got.shape:
        text = f"the merged model has {got.shape[1]} output rows, base plus adapter {wanted.shape[1]}"
        raise WorkError("merge.verify", text, fix="merge again; if it persists, report the model's architecture")
    off, effect = got - wanted, wanted - plain
    lost = off.square().mean().sqrt() / effect.square().mean().sqrt().clamp_min(1e-30)
    tolerance = share * max(1.0, wanted.abs().max().item())
    return Proof(off.abs().max().item(), tolerance, effect.abs().max().item(), lost.item())


def _judge(proof: Proof, dtype: str) -> None:
    cut_short = UNTRAINED_VARIABLE in os.environ
    if proof.effect == 0 and not cut_short:
        text = "base plus adapter answers exactly like the base: the adapter has no effect on this model"
        raise WorkError("adapter.no_effect", text, fix="give the base it was trained on, or train the adapter again")
    if not proof.difference <= proof.tolerance:
        numbers = f"{proof.difference:.3g} logits, allowed are {proof.tolerance:.3g}"
        text = f"the merged model differs from base plus adapter by {numbers}"
        raise WorkError(
            "merge.verify", text, why="the merged model is not the one that was trained", fix="set merge.dtype: float32"
        )
    if proof.lost > _LOST and not cut_short:
        text = f"stored as {dtype}, rounding takes away {proof.lost:.0%} of what the adapter changed"
        raise WorkError("merge.rounded_away", text, fix="set merge.dtype: float32")
