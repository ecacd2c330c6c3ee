"""Merges what can't go tensor by tensor with PEFT's own code: whole model in memory, sums in float32 on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from backends.hf import worker_model
from backends.hf.worker_adapter import PREFIX, Adapter
from backends.hf.worker_stored import Catalogue, main_dtype


def write(
    base: Path, adapter: Adapter, stored: Catalogue, folder: Path, *, trust: bool, dtype: torch.dtype | None, limit: int
) -> int:
    """Write the merged weights and configuration into `folder`; the arguments are those of the streaming merge.

    Returns:
        Number of adapter tensors merged.
    """
    model = worker_model.load(base, trust=trust, dtype=torch.float32, where=torch.device("cpu"))
    untied = _untie(model, adapter)
    merged = worker_model.attach(model, adapter).merge_and_unload(safe_merge=True)
    if untied:
        _tie_again_if_equal(merged)
    _cast(merged, stored, dtype)
    merged.save_pretrained(folder, max_shard_size=limit)
    return len(adapter.tensors)


def _untie(model: PreTrainedModel, adapter: Adapter) -> bool:
    """Give a tied head its own weight when the adapter changes one of the two: merging in place would change both."""
    source, head = model.get_input_embeddings(), model.get_output_embeddings()
    if head is None or head.weight is not source.weight or adapter.config.get("trainable_token_indices"):
        return False
    names = [n for n, module in model.named_modules() if module is source or module is head]
    if not any(tensor.startswith(f"{PREFIX}{name}.") for tensor in adapter.tensors for name in names):
        return False
    head.weight = torch.nn.Parameter(source.weight.detach().clone())
    _declare_tied(model, False)
    return True


def _tie_again_if_equal(model: PreTrainedModel) -> None:
    source, head = model.get_input_embeddings(), model.get_output_embeddings()
    if source.weight.shape == head.weight.shape and torch.equal(source.weight, head.weight):
        head.weight = source.weight
        _declare_tied(model, True)


def _declare_tied(model: PreTrainedModel, tied: bool) -> None:
    configs: list[Any] = [model.config, model.config.get_text_config()]
    for config in configs:
        if hasattr(config, "tie_word_embeddings"):
            config.tie_word_embeddings = tied


def _cast(model: PreTrainedModel, stored: Catalogue, dtype: torch.dtype | None) -> None:
    usual = main_dtype(stored)
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        if tensor.is_floating_point():
            own = stored[name].dtype if name in stored else usual
            tensor.data = tensor.data.to(dtype or own)
