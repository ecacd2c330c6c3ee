"""A safetensors file written piece by piece: its header first, then every tensor into its place, by many threads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from math import prod
from pathlib import Path

import torch
from torch import Tensor

from backends.hf.worker_stored import NAMES

Form = tuple[torch.dtype, tuple[int, ...]]
"""Dtype and shape."""


class Shard:
    """A file that is being written.

    Args:
        path: must not exist.
        tensors: everything that it will hold.
    """

    def __init__(self, path: Path, tensors: Mapping[str, Form]) -> None:
        # Largest elements first, so that every tensor lies at a multiple of its own element's size.
        forms = dict(sorted(tensors.items(), key=lambda one: -one[1][0].itemsize))
        self._starts, end = dict[str, int](), 0
        for name, form in forms.items():
            self._starts[name] = end
            end += _bytes(form)
        head = _header(forms, self._starts)
        self._first = len(head)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.pwrite(self._file, head, 0)
        os.truncate(self._file, self._first + end)

    def write(self, name: str, start: int, piece: Tensor) -> None:
        """Put elements `start` and following of a tensor into their place."""
        place = self._first + self._starts[name] + start * piece.element_size()
        rest = memoryview(piece.contiguous().view(-1).view(torch.uint8).numpy())
        while rest:
            done = os.pwrite(self._file, rest, place)
            rest, place = rest[done:], place + done

    def close(self) -> None:
        """Wait until all of it is on the disk."""
        os.fsync(self._file)
        os.close(self._file)


def _header(forms: Mapping[str, Form], starts: Mapping[str, int]) -> bytes:
    entries = {
        name: {"dtype": NAMES[form[0]], "shape": form[1], "data_offsets": [starts[name], starts[name] + _bytes(form)]}
        for name, form in forms.items()
    }
    text = json.dumps({"__metadata__": {"format": "pt"}, **entries}, separators=(",", ":")).encode()
    padded = text.ljust(-(-len(text) // 8) * 8)
    return len(padded).to_bytes(8, "little") + padded


def _bytes(form: Form) -> int:
    return prod(form[1]) * int(form[0].itemsize)
