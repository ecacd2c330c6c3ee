"""The tensors of a model folder by their headers, without reading the weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from backends.hf import folders
from orchestrator.harness import WorkError

_AGAIN = "copy or download the model again"
_DTYPES = {"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
_INTEGERS = {"I64": torch.int64, "I32": torch.int32, "BOOL": torch.bool}


@dataclass(frozen=True)
class Stored:
    """One tensor on disk."""

    file: Path
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)


Catalogue = dict[str, Stored]
"""Tensor name -> where it lies, in the order of the files."""


def catalogue(folder: Path) -> Catalogue:
    """Read every header.

    Raises:
        WorkError: a file is damaged, a promised tensor is missing, or the weights are quantised.
    """
    found: Catalogue = {}
    for name, promised in folders.weight_files(folder).items():
        tensors = dict(_headers(folder / name))
        lost = sorted((promised or set()) - set(tensors))
        if lost:
            raise WorkError("model.shard", f"{folder / name} lacks {lost[0]}, which the index places there", fix=_AGAIN)
        found.update(tensors)
    return found


def main_dtype(stored: Catalogue) -> torch.dtype:
    """The floating dtype that holds most of the weights: what a config should declare."""
    sizes: Counter[torch.dtype] = Counter()
    for tensor in stored.values():
        if tensor.dtype.is_floating_point:
            sizes[tensor.dtype] += tensor.count
    return sizes.most_common(1)[0][0]


def _headers(path: Path) -> Iterator[tuple[str, Stored]]:
    try:
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118  (no mapping: it can't be iterated)
                part = file.get_slice(name)
                yield name, Stored(path, tuple(part.get_shape()), _dtype(part.get_dtype(), path, name))
    except SafetensorError as error:
        raise WorkError("model.truncated", f"{path} is damaged: {error}", fix=_AGAIN) from error


def _dtype(name: str, path: Path, tensor: str) -> torch.dtype:
    dtype = _DTYPES.get(name) or _INTEGERS.get(name)
    if dtype is None:
        raise quantised(f"{path} stores {tensor} as {name}")
    return dtype


def quantised(what: str) -> WorkError:
    """The refusal to merge into rounded weights."""
    return WorkError(
        "merge.quantised",
        f"{what}: the base is quantised",
        why="an update added to rounded weights is rounded away, and the result differs from what was trained",
        fix="merge onto the unquantised base: give its folder or hub name as the model",
    )
