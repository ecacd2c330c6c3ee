"""Runs TitanRL: looks at the model it starts from, trains through TitanRL's own main function, gives the result back.

Runs in the engine's environment: `python -m backends.titanrl.worker native/titan/config_registry.py`.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path
from typing import Any

from orchestrator.harness import Harness

_ARGUMENTS = ["titanrl", "--module", "titan", "--config", "rl"]


def work(harness: Harness, registry: Path) -> None:
    """One run, from the config registry to the model."""
    from backends.titanrl import worker_export, worker_shim, worker_start

    harness.events.emit("state", state="loading")
    gpu = worker_start.has_gpu()
    if not gpu:
        worker_shim.device()
    config, minutes = _config(registry)
    folder, steps = Path(config.dump_folder) / "checkpoint", config.async_loop.num_training_steps
    worker_start.require_proved(config.hf_assets_path, harness.events)
    worker_start.put_aside(folder, steps, harness.events)
    if not worker_start.finished(folder, steps):
        _train(harness, steps, minutes, gpu, Path(config.dump_folder))
    harness.events.emit("state", state="saving")
    run = harness.run or registry.parents[2]
    harness.events.emit("result", metrics=worker_export.export(config, run))


def _config(registry: Path) -> tuple[Any, float]:
    """The configuration, imported by us first: TitanRL hides what goes wrong when it imports it."""
    sys.path.insert(0, str(registry.parents[1]))
    module = importlib.import_module("titan.config_registry")
    return module.rl(), float(module.STALL_MINUTES)


def _train(harness: Harness, steps: int, minutes: float, gpu: bool, folder: Path) -> None:
    from backends.titanrl import worker_api, worker_shim
    from backends.titanrl.worker_life import LIFE
    from backends.titanrl.worker_samples import samples_of

    actor = importlib.import_module("monarch.actor")
    train = worker_api.module("train")
    if gpu and worker_api.RELEASE:
        worker_shim.torchstore_signature()
    elif not gpu:
        worker_shim.install()
        train._preimport_torch = train._bootstrap_generator = worker_shim.bootstrap
    worker_api.module("logging").init_logger()  # train.py forgets it, and says nothing on the console then
    sys.argv = list(_ARGUMENTS)
    harness.events.emit("state", state="training", total=steps)
    LIFE.start(harness, steps, minutes, samples_of(harness, folder))
    actor.unhandled_fault_hook = LIFE.fault  # type: ignore[attr-defined]
    try:
        asyncio.run(train.main())
    finally:
        LIFE.end()


if __name__ == "__main__":
    sys.exit(Harness().main(work))
