"""A model reference taken up: its folders found and checked, its adapter read, before anything heavy is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.hf import worker_adapter, worker_base
from backends.hf.worker_adapter import Adapter
from backends.hf.worker_source import adapter_folder, model_folder
from orchestrator.harness import Harness


def files(harness: Harness, model: dict[str, Any]) -> tuple[Path, Adapter | None]:
    """The base's folder, and the adapter where the reference has one.

    Raises:
        WorkError: a folder or an adapter that can't be used, or another base than the adapter's.
    """
    folder = model_folder(model)
    if not model["adapter"]:
        return folder, None
    adapter = worker_adapter.read(adapter_folder(model["adapter"]))
    worker_base.check(harness, adapter, model, folder)
    return folder, adapter
