"""A model's weights in a few numbers: for each kind of module their norm, and their product with fixed waves.

Answers to three conversations leave room below the noise of bfloat16, and ask nothing of tokens that they don't hold.
The product weighs every number by its place and its tensor's name: a swapped layer, a permuted row, a stale part show.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Iterator
from typing import Any

from backends.trainer.whole import whole

SLACK = {"float32": 2e-5, "float16": 1e-3, "bfloat16": 6e-3}
"""Dtype of the coarser side -> difference allowed, as a share of the norm.

Where both sides hold the same dtype the numbers are the same, and only the order of adding them may differ: the first
of these. Rounding to 8 bits changes 1.1e-3 of a norm in all, of which the waves see a random half.
"""
_BLOCK = 2**24
_STEP = 2.399963
"""Of a wave, in radians: the golden angle, so that no pattern of a weight keeps its rhythm."""

Sketch = dict[str, Any]


def of(model: Any, stored: str | None = None) -> Sketch | None:
    """Of the weights below an adapter, or of a whole model; None where they aren't in this process.

    Args:
        stored: dtype that the weights will be saved in, where it is coarser than theirs.

    Returns:
        kind: class of the model; names of others mean other things.
        dtype: of the weights.
        modules: kind of module -> norm and wave product, summed over all tensors of its kind.
        rounded: the same of the weights rounded to bfloat16, for whoever will load them so; None where they are no
            finer.
    """
    import torch

    base = model.get_base_model() if hasattr(model, "peft_config") else model
    if any(p.is_meta or p.numel() == 0 for p in base.parameters()):
        return None
    dtype = stored or str(base.get_input_embeddings().weight.dtype).removeprefix("torch.")
    rounded = _modules(base, torch.bfloat16) if dtype == "float32" else None
    kind = type(base).__name__.removeprefix("FSDP")
    return {"kind": kind, "dtype": dtype, "modules": _modules(base, None), "rounded": rounded}


def _modules(base: Any, dtype: Any) -> dict[str, list[float]]:
    sums: dict[str, list[float]] = {}
    for name, parameter in _parameters(base):
        if parameter.is_floating_point():
            square, product = _two(name, whole(parameter).detach(), dtype)
            held = sums.setdefault(_kind(name), [0.0, 0.0])
            held[0], held[1] = held[0] + square, held[1] + product
    return {kind: [float(f"{math.sqrt(s):.9g}"), float(f"{p:.9g}")] for kind, (s, p) in sorted(sums.items())}


def difference(expected: Sketch, found: Sketch) -> str | None:
    """The kinds of modules whose weights are others; None without any, or where the two can't be compared."""
    if expected["kind"] != found["kind"]:
        return None
    exact = expected["dtype"] == found["dtype"] or (expected.get("rounded") and found["dtype"] == "bfloat16")
    slack = SLACK["float32"] if exact else max(SLACK.get(side["dtype"], 6e-3) for side in (expected, found))
    before, rounded, after = expected["modules"], expected.get("rounded") or {}, found["modules"]
    other = {kind: _apart(before[kind], after[kind]) for kind in before if kind in after}
    if found["dtype"] == "bfloat16":  # kinds that a model keeps in float32 are as they were
        other = {
            kind: min(share, _apart(rounded.get(kind, before[kind]), after[kind])) for kind, share in other.items()
        }
    wrong = [f"{kind} {share:.2g}" for kind, share in other.items() if not share <= slack]
    return f"weights differ, as a share of their norm, in {', '.join(wrong)}; allowed is {slack:.2g}" if wrong else None


def _apart(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) / max(one[0], 1e-30)


def _parameters(base: Any) -> Iterator[tuple[str, Any]]:
    """Name in the plain model -> parameter, without adapters; a module that was saved whole stands for the original."""
    for name, parameter in base.named_parameters():
        if "lora_" not in name and "original_module." not in name:
            yield name.replace(".base_layer.", ".").replace("modules_to_save.default.", ""), parameter


def _kind(name: str) -> str:
    parts = name.split(".")
    return parts[-2] if len(parts) > 1 else name


def _two(name: str, tensor: Any, dtype: Any) -> tuple[float, float]:
    """Square of the norm, and the product with the waves, of a tensor as a table, rounded to a dtype before."""
    table = tensor.reshape(-1, tensor.shape[-1]) if tensor.dim() > 1 else tensor.reshape(1, -1)
    across = _wave(table.shape[1], zlib.crc32(name.encode())).to(table.device)
    down = _wave(table.shape[0], zlib.crc32(name.encode()[::-1])).to(table.device)
    rows, square, product = max(1, _BLOCK // table.shape[1]), 0.0, 0.0
    for first in range(0, table.shape[0], rows):
        block = table[first : first + rows].to(dtype or table.dtype).float()
        square += block.square().sum().item()
        product += ((block * across).sum(1) * down[first : first + rows]).sum().item()
    return square, product


@functools.lru_cache(maxsize=8)
def _places(length: int) -> Any:
    import torch

    return torch.arange(length, dtype=torch.float64, device="cpu") * _STEP


def _wave(length: int, seed: int) -> Any:
    return (_places(length) + seed % 6283 / 1000).cos().float()
