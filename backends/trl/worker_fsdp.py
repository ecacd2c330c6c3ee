"""FSDP2: on CPU ranks too, with every rank's gradient for the head, and back from shards to whole tensors."""

from __future__ import annotations

import functools
from typing import Any

from orchestrator.harness import WorkError


def allow_on_cpu() -> None:
    """Let accelerate shard over CPU ranks. It takes an FSDP plugin from GPUs only, and runs plain DDP without a word.

    Must be called before the first Accelerator. What it adds is what accelerate does itself for GPU ranks
    (accelerate 1.15, AcceleratorState.__init__).
    """
    from accelerate.state import AcceleratorState

    original = AcceleratorState.__init__

    @functools.wraps(original)
    def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
        first = not AcceleratorState._shared_state
        original(self, *args, **kwargs)
        if first and kwargs.get("fsdp_plugin") is not None:
            _adopt(self, kwargs["fsdp_plugin"])

    AcceleratorState.__init__ = initialise


def _adopt(state: Any, plugin: Any) -> None:
    from accelerate.state import PartialState
    from accelerate.utils import DistributedType

    if state.distributed_type != DistributedType.MULTI_CPU:
        return
    if state._mixed_precision != "no":
        plugin.set_mixed_precision(state._mixed_precision)
    state.fsdp_plugin, state.distributed_type = plugin, DistributedType.FSDP
    PartialState._shared_state["distributed_type"] = DistributedType.FSDP


def group_head() -> None:
    """Let accelerate find the final norm wherever the decoder is, so that the head is gathered with it.

    TRL's loss reads lm_head.weight without calling lm_head. In one group with the final norm the weight is whole by
    then. Alone it is a shard, which TRL gathers in a way that gives each rank's part of the head that rank's own
    gradient only: no error, another model. accelerate 1.15 looks for the norm among the direct children of the base
    model, and finds none in multimodal models nor below PEFT (trl 1.16).
    """
    from accelerate.utils import fsdp_utils

    fsdp_utils._find_final_norm = _final_norm


def _final_norm(model: Any) -> Any:
    norms = [module for module in model.get_decoder().children() if "Norm" in type(module).__name__]
    return norms[-1] if norms else None


def require_whole_head(model: Any) -> None:
    """Refuse a trained, untied head that would stay a shard; call it before the model is sharded.

    Raises:
        WorkError: there is no final norm to gather it with.
    """
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    trained = head is not None and head.weight.requires_grad and head.weight is not embedding.weight
    if trained and _final_norm(model) is None:
        raise WorkError(
            "fsdp.head",
            f"{type(model).__name__} trains its output head, but no final norm was found to gather it with",
            why="under FSDP2 each rank would train its part of the head on its own rows only",
            fix="hardware.sharding: ddp, or method: lora without lm_head in lora.modules_to_save",
        )


def require_sharding(trainer: Any) -> None:
    """Refuse a run that asked for FSDP2 and got something else.

    Raises:
        WorkError: the engine would run without sharding.
    """
    if not trainer.accelerator.is_fsdp2:
        raise WorkError(
            "fsdp.ignored",
            f"FSDP2 was asked for, but the engine runs as {trainer.accelerator.distributed_type}",
            why="every rank would hold the whole model",
            fix="start it through torch.distributed.run with hardware.processes above 1",
        )


def whole(model: Any, rank: int, *, trained_only: bool) -> dict[str, Any]:
    """Parameters and persistent buffers by name, gathered one at a time; on other ranks than 0 an empty dict.

    Every rank must call this: each gather is a collective. Tied tensors appear once.
    """
    from torch.distributed.tensor import DTensor

    kept = {}
    for name, tensor in [*model.named_parameters(), *_persistent_buffers(model)]:
        if trained_only and not tensor.requires_grad:
            continue
        full = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
        if rank == 0:
            kept[name] = full.detach().cpu()
    return kept


def _persistent_buffers(model: Any) -> list[tuple[str, Any]]:
    stored = set(model.state_dict())
    return [(name, buffer) for name, buffer in model.named_buffers() if name in stored]
