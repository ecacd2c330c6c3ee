"""The processes of one training: how they leave."""

from __future__ import annotations


def leave() -> None:
    """Ranks leave together; a process group that is torn down by exit warns on every rank."""
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
