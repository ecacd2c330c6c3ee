"""The most memory that this process has held."""

from __future__ import annotations

import resource
import sys


def peak() -> int:
    """Bytes: of the GPU, as its allocator holds them, where there is one in use; else of the process."""
    import torch

    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return int(torch.cuda.max_memory_reserved())
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
