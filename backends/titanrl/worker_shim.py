"""TitanRL 0.3.0 on a machine without a GPU: each function replaces one thing that only CUDA has, and says which.

With a GPU none of it is loaded, but for `torchstore_signature`: PyPI's TorchStore 0.1.2 is older than TitanRL's calls.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

WORKER = "vllm.v1.worker.cpu_worker.CPUWorker"


def bootstrap() -> None:
    """Monarch calls it first in each process that it makes."""
    device()
    install()


def device() -> None:
    """TorchTitan asks once, when it is imported, and takes `cuda` for an answer that is none."""
    import torch._utils

    torch._utils._get_available_device_type = lambda: "cpu"
    # Monarch unpickles actors in several threads, whose imports would meet half-way
    import torch.distributed.checkpoint
    import torch.distributed.fsdp
    import torch.distributed.tensor


def install() -> None:
    """Everything; TorchTitan must not have been imported before `device`."""
    torchstore_signature()
    torchstore_endpoints()
    attention()
    gradient_sum()
    generator_worker()


def torchstore_signature() -> None:
    """TitanRL passes `direct_rdma`, which TorchStore 0.1.2 doesn't know."""
    import torchstore

    for name in ("put_state_dict", "get_state_dict"):
        function = getattr(torchstore, name)
        if "direct_rdma" not in inspect.signature(function).parameters:
            setattr(torchstore, name, _without_rdma(function))


def _without_rdma(function: Any) -> Any:
    async def call(*given: Any, **more: Any) -> Any:
        more.pop("direct_rdma", None)
        return await function(*given, **more)

    return call


def torchstore_endpoints() -> None:
    """TorchStore 0.1.2's Controller mixes sync and async endpoints, which Monarch 0.7 refuses: make all async."""
    from torchstore.controller import Controller

    for endpoint in vars(Controller).values():
        method = getattr(endpoint, "_method", None)
        if method is not None and not inspect.iscoroutinefunction(method):
            endpoint._method = _asynchronous(method)


def _asynchronous(method: Any) -> Any:
    @functools.wraps(method)
    async def call(*given: Any, **more: Any) -> Any:
        return method(*given, **more)

    return call


def attention() -> None:
    """`varlen_attn` is a CUDA kernel: the documents of a packed row one by one instead, which is the same sum."""
    from torchtitan.models.common.attention import VarlenAttention

    VarlenAttention.forward = _varlen


def _varlen(
    self: Any,
    q_BLNH: Any,  # noqa: N803  (TorchTitan looks placements up by the names of the arguments)
    k_BLNH: Any,  # noqa: N803
    v_BLNH: Any,  # noqa: N803
    *,
    attention_masks: Any,
    scale: Any = None,
    **more: Any,
) -> Any:
    """Queries, keys, values: (batch, length, heads, head size), packed rows."""
    import torch

    if more.get("out_transform") is not None:
        raise NotImplementedError("attention sinks on a CPU")
    batch, length = q_BLNH.shape[:2]
    flat = [t.reshape(batch * length, -1, t.shape[-1]) for t in (q_BLNH, k_BLNH, v_BLNH)]
    ends = (attention_masks.cu_seq_q.tolist(), attention_masks.cu_seq_k.tolist())
    pieces = []
    for a, b, c, d in zip(ends[0][:-1], ends[0][1:], ends[1][:-1], ends[1][1:], strict=True):
        if b > a:
            parts = (flat[0][a:b], flat[1][c:d], flat[2][c:d])
            pieces.append(_document(parts, self.window_size, scale, bool(more.get("enable_gqa"))))
    return torch.cat(pieces).view(batch, length, -1, v_BLNH.shape[-1]).to(q_BLNH.dtype)


def _document(parts: tuple[Any, Any, Any], window: tuple[int, int], scale: Any, grouped: bool) -> Any:
    """(length, heads, size) each; a window of -1 has no end on that side."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    q, k, v = (part.transpose(0, 1).unsqueeze(0) for part in parts)
    long_q, long_k = q.shape[2], k.shape[2]
    row = torch.arange(long_q).unsqueeze(1) + (long_k - long_q)
    column = torch.arange(long_k).unsqueeze(0)
    left, right = window
    seen = torch.ones(long_q, long_k, dtype=torch.bool)
    seen = seen & (column <= row + right) if right >= 0 else seen
    seen = seen & (column >= row - left) if left >= 0 else seen
    out = scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=scale, enable_gqa=grouped)
    return out.squeeze(0).transpose(0, 1)


def gradient_sum() -> None:
    """FSDP2 divides while it reduces, which gloo can't: sum, then divide."""
    from torch.distributed.fsdp import FSDPModule

    original = FSDPModule.set_gradient_divide_factor

    def divide(self: Any, factor: float) -> None:
        original(self, factor)
        self.set_force_sum_reduction_for_comms(True)

    FSDPModule.set_gradient_divide_factor = divide


def generator_worker() -> None:
    """The generator names vLLM's GPU worker."""
    from torchtitan.experiments.rl.actors import generator

    generator.TORCHTITAN_WORKER_CLS = WORKER
