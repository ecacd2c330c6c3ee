"""Threads and devices of this process, settled before the first tensor."""

from __future__ import annotations

import os


def settle(*, use_cpu: bool) -> None:
    """Set torch's threads, and show a lone process one GPU only.

    Must come before CUDA starts. One process that sees several GPUs becomes nn.DataParallel, which TRL refuses.
    """
    if not use_cpu and "RANK" not in os.environ:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES") or "0"
        os.environ["CUDA_VISIBLE_DEVICES"] = visible.split(",")[0]
    import torch

    if threads := os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))
