"""Merges LoRA, DoRA and whole saved modules a few rows at a time: no tensor is ever in memory whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from backends.hf import folders
from backends.hf.worker_adapter import Adapter
from backends.hf.worker_shard import Shard
from backends.hf.worker_stored import Catalogue, Stored
from orchestrator.harness import WorkError

Progress = Callable[[int, int], None]
"""Called with the shards written and their number."""
Change = Callable[[Tensor, int], Tensor]
"""Some rows of a tensor of the base, and the number of the first -> what is written in their place."""

_SPAN, _PIECE = 1 << 22, 1 << 16
"""Elements that a thread takes at a time, and that it holds at a time."""


def fits(adapter: Adapter, skeleton: nn.Module, stored: Catalogue) -> bool:
    """Whether every update goes to a Linear or Conv1D layer, every whole tensor to its like, by the names stored.

    What is shared with another module is none: writing it would change both.

    Raises:
        WorkError: an update has another shape than the weight it belongs to.
    """
    if not adapter.is_plain:
        return False
    shared = _shared(skeleton)
    modules = dict(skeleton.named_modules())
    plain = [m for m in adapter.pairs if _is_matrix(modules[m], adapter, m) and f"{m}.weight" in stored]
    for module in plain:
        _check_shape(module, adapter, stored[f"{module}.weight"], turned=type(modules[module]) is Conv1D)
    whole = all(n in stored and stored[n].shape == tuple(t.shape) for n, t in adapter.saved.items())
    touched = {*adapter.pairs, *(name.rpartition(".")[0] for name in adapter.saved)}
    return whole and len(plain) == len(adapter.pairs) and not touched & shared


def write(
    adapter: Adapter,
    stored: Catalogue,
    folder: Path,
    *,
    turned: set[str],
    dtype: torch.dtype | None,
    limit: int,
    progress: Progress,
) -> int:
    """Write the merged weights into `folder`, to the disk.

    Args:
        turned: modules whose weight is stored as (in, out).
        dtype: of every floating tensor; None keeps each tensor's own.
        limit: bytes per output file, unless one tensor is larger.

    Returns:
        Number of tensors changed.
    """
    changes = _changes(adapter, turned)
    buckets = list(_buckets(stored, dtype, limit))
    places: dict[str, str] = {}
    with _threads() as pool:
        closing = []
        for number, names in enumerate(buckets, 1):
            file = folders.WEIGHTS if len(buckets) == 1 else f"model-{number:05}-of-{len(buckets):05}.safetensors"
            shard = Shard(folder / file, {n: (_target(stored[n].dtype, dtype), stored[n].shape) for n in names})
            spans = [(name, *span) for name in names for span in _spans(stored[name])]
            for _ in pool.map(partial(_copy, stored, changes, dtype, shard), spans):
                pass  # to meet what a thread raised
            closing.append(pool.submit(shard.close))
            places.update(dict.fromkeys(names, file))
            progress(number, len(buckets))
        for one in closing:
            one.result()
    if len(buckets) > 1:
        _write_index(folder, places, stored, dtype)
    return len(changes)


def turned(skeleton: nn.Module) -> set[str]:
    """Names of modules whose weight is stored as (in, out), as GPT-2's."""
    return {name for name, module in skeleton.named_modules() if type(module) is Conv1D}


def size(tensor: Stored, dtype: torch.dtype | None) -> int:
    """Bytes of a tensor as it will be stored."""
    return tensor.count * int(_target(tensor.dtype, dtype).itemsize)


def _buckets(stored: Catalogue, dtype: torch.dtype | None, limit: int) -> Iterator[list[str]]:
    bucket, filled = list[str](), 0
    for name, tensor in stored.items():
        if bucket and filled + size(tensor, dtype) > limit:
            yield bucket
            bucket, filled = [], 0
        bucket.append(name)
        filled += size(tensor, dtype)
    if bucket:
        yield bucket


@contextmanager
def _threads() -> Iterator[ThreadPoolExecutor]:
    """As many threads as cores, each with all of its arithmetic to itself, and one that waits for the disk."""
    cores = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(cores + 1) as pool:
            yield pool
    finally:
        torch.set_num_threads(cores)


def _spans(tensor: Stored) -> Iterator[tuple[int, int]]:
    """Rows that one thread does in a go."""
    rows = _some(_SPAN, tensor)
    yield from ((first, min(first + rows, tensor.rows)) for first in range(0, tensor.rows, rows))


def _some(elements: int, tensor: Stored) -> int:
    """About as many elements in rows: sixteen or a multiple, for which a product has the bits of the whole one."""
    return max(1, elements // tensor.columns // 16) * 16


def _copy(
    stored: Catalogue,
    changes: dict[str, Change],
    dtype: torch.dtype | None,
    shard: Shard,
    span: tuple[str, int, int],
) -> None:
    """Write rows of a tensor, changed where they change, a piece at a time: what fits a core's cache is fast."""
    name, begin, end = span
    tensor, change = stored[name], changes.get(name)
    target, rows = _target(tensor.dtype, dtype), _some(_PIECE, tensor)
    for first in range(begin, end, rows):
        piece = tensor.read(first, min(first + rows, end))
        changed = change(piece, first).to(target) if change else piece.to(target)
        shard.write(name, first * tensor.columns, _finite(name, changed) if change else changed)


def _changes(adapter: Adapter, turned: set[str]) -> dict[str, Change]:
    added = {f"{m}.weight": partial(_add, adapter=adapter, module=m, turned=m in turned) for m in adapter.pairs}
    return {**added, **{name: partial(_replace, tensor) for name, tensor in adapter.saved.items()}}


def _replace(new: Tensor, old: Tensor, first: int) -> Tensor:
    return new.view(-1, old.shape[1])[first : first + len(old)]


def _add(rows: Tensor, first: int, *, adapter: Adapter, module: str, turned: bool) -> Tensor:
    """In float32, in the order PEFT uses, so that both give the same bits."""
    a, b = adapter.pairs[module]
    here = slice(first, first + len(rows))
    update = a[:, here].float().T @ b.float().T if turned else b[here].float() @ a.float()
    summed = rows.float() + update * adapter.scale(module)
    magnitude = adapter.magnitude(module)
    if magnitude is None:
        return summed
    return (magnitude[here].float() / torch.linalg.norm(summed, dim=1)).view(-1, 1) * summed


def _finite(name: str, tensor: Tensor) -> Tensor:
    if not tensor.isfinite().all():
        text = f"{name} overflows {str(tensor.dtype).removeprefix('torch.')} when merged"
        raise WorkError("merge.overflow", text, fix="set merge.dtype: bfloat16 or float32")
    return tensor


def _target(own: torch.dtype, wanted: torch.dtype | None) -> torch.dtype:
    return wanted if wanted is not None and own.is_floating_point else own


def _is_matrix(layer: nn.Module, adapter: Adapter, module: str) -> bool:
    return type(layer) is nn.Linear or (type(layer) is Conv1D and adapter.magnitude(module) is None)


def _check_shape(module: str, adapter: Adapter, weight: Stored, *, turned: bool) -> None:
    a, b = adapter.pairs[module]
    if weight.shape != ((a.shape[1], b.shape[0]) if turned else (b.shape[0], a.shape[1])):
        stored = " x ".join(map(str, weight.shape))
        text = f"{module}: the update is {b.shape[0]} x {a.shape[1]}, the base's weight {stored}"
        raise WorkError("adapter.fit", text, fix="give the base it was trained on")


def _shared(skeleton: nn.Module) -> set[str]:
    """Names of modules whose weight is one tensor with another's."""
    tied = getattr(skeleton, "all_tied_weights_keys", {})
    return {name.removesuffix(".weight") for pair in tied.items() for name in pair}


def _write_index(folder: Path, places: dict[str, str], stored: Catalogue, dtype: torch.dtype | None) -> None:
    total = sum(size(tensor, dtype) for tensor in stored.values())
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    (folder / folders.INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
