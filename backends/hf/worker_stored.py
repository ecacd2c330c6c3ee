"""The tensors of a model folder by their headers; weights are read when asked for, and only the rows asked for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from backends.hf import folders
from orchestrator.harness import WorkError

_AGAIN = "copy or download the model again"
_DTYPES = {
    **{"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16},
    **{"I64": torch.int64, "I32": torch.int32, "BOOL": torch.bool},
}
NAMES = {dtype: name for name, dtype in _DTYPES.items()}
"""Dtype -> what a header calls it."""


@dataclass(frozen=True)
class Stored:
    """One tensor on disk.

    Attributes:
        start: its first byte in the file.
    """

    file: Path
    shape: tuple[int, ...]
    dtype: torch.dtype
    start: int

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def columns(self) -> int:
        """Elements of a row: the last dimension of a matrix, or of several on top of each other; 1 for a vector."""
        return self.shape[-1] if len(self.shape) > 1 else 1

    @property
    def rows(self) -> int:
        """Rows of all its matrices."""
        return self.count // self.columns if self.count else 0

    def read(self, first: int, last: int) -> Tensor:
        """Rows `first` to `last`, exclusive, as a matrix. Nothing is mapped: what was read can be forgotten."""
        width = self.columns * int(self.dtype.itemsize)
        with self.file.open("rb", buffering=0) as file:
            file.seek(self.start + first * width)
            raw = bytearray((last - first) * width)
            view = memoryview(raw)
            while view:
                if not (got := file.readinto(view)):
                    raise WorkError("model.truncated", f"{self.file} ended while it was read", fix=_AGAIN)
                view = view[got:]
        return torch.frombuffer(raw, dtype=self.dtype).view(last - first, self.columns)


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
        with safe_open(path, framework="pt"):
            pass  # looks at every offset, and whether the file is as long as they say
    except SafetensorError as error:
        raise WorkError("model.truncated", f"{path} is damaged: {error}", fix=_AGAIN) from error
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    for name, one in header.items():
        yield (
            name,
            Stored(path, tuple(one["shape"]), _dtype(one["dtype"], path, name), 8 + length + one["data_offsets"][0]),
        )


def _dtype(name: str, path: Path, tensor: str) -> torch.dtype:
    dtype = _DTYPES.get(name)
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
