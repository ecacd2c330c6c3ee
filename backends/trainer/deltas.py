"""How far an adapter moves a model: the Frobenius norm of scale * B A of each module, from two small Gram matrices.

|BA|^2 is the sum over (B^T B) * (A A^T), both r x r: the product itself, as large as the weight, is never made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from backends.trainer.whole import whole

SLACK = 5e-3
"""Share of a norm that storing an adapter in bfloat16 may change; a doubled alpha changes all of it."""

Deltas = dict[str, Any]


def of(model: Any) -> Deltas | None:
    """Of the adapters that are active in a model; None without any.

    Returns:
        tensors: number of adapter tensors that the model holds, whole modules included.
        norm: over all modules.
        modules: kind of module, e.g. `q_proj` -> norm over all of its kind.
    """
    if not hasattr(model, "peft_config"):
        return None
    found = _summary(_pairs(model))
    return {"tensors": sum(_is_adapter(name) for name, _ in model.named_parameters()), **found}


def _summary(pairs: Iterable[tuple[str, Any, Any, float]]) -> Deltas:
    squares: dict[str, float] = {}
    for module, a, b, scale in pairs:
        kind = module.rpartition(".")[2]
        squares[kind] = squares.get(kind, 0.0) + (norm(a, b) * scale) ** 2
    modules = {kind: float(f"{math.sqrt(square):.6g}") for kind, square in sorted(squares.items())}
    return {"norm": float(f"{math.sqrt(sum(squares.values())):.6g}"), "modules": modules}


def norm(a: Any, b: Any) -> float:
    """|B A|, for A of shape (r, in) and B of shape (out, r)."""
    a, b = a.detach().float().flatten(1), b.detach().float().flatten(1)
    square = ((b.T @ b).double() * (a @ a.T).double()).sum().item()
    return math.sqrt(max(0.0, square))


def difference(expected: Deltas, found: Deltas) -> str | None:
    """What is missing or of another size, and what that looks like; None for nothing."""
    if found["tensors"] != expected["tensors"]:
        return f"{found['tensors']} adapter tensors were taken up, and {expected['tensors']} were made"
    before, after = expected["modules"], found["modules"]
    if lost := sorted(before.keys() - after):
        return f"no adapter on {', '.join(lost)} any more"
    other = {kind: _ratio(after[kind], before[kind]) for kind in before if not _near(after[kind], before[kind])}
    if not other:
        return None
    shown = ", ".join(f"{kind} {ratio:.3g}" for kind, ratio in other.items())
    same = len(other) == len(before) and max(other.values()) <= min(other.values()) * (1 + SLACK)
    cause = "its scale is another one: lora_alpha, r or use_rslora changed" if same else "some of its tensors changed"
    return f"what the adapter adds has another size, times what it was: {shown}; {cause}"


def _ratio(after: float, before: float) -> float:
    return after / before if before else math.inf


def _near(after: float, before: float) -> bool:
    return math.isclose(after, before, rel_tol=SLACK, abs_tol=1e-12)


def _is_adapter(name: str) -> bool:
    return "lora_" in name or ".modules_to_save." in name


def _pairs(model: Any) -> Iterator[tuple[str, Any, Any, float]]:
    """Module, A, B and scale of every active adapter; embeddings keep theirs transposed and as bare parameters."""
    for name, module in model.named_modules():
        if not hasattr(module, "lora_A"):
            continue
        for adapter, scale in module.scaling.items():
            if adapter not in module.active_adapters:
                continue
            if adapter in module.lora_A:
                yield name, whole(module.lora_A[adapter].weight), whole(module.lora_B[adapter].weight), float(scale)
            elif adapter in module.lora_embedding_A:
                a, b = module.lora_embedding_A[adapter], module.lora_embedding_B[adapter]
                yield name, whole(a), whole(b), float(scale)
