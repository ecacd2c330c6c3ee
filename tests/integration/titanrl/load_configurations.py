"""Runs in the engine's environment: imports config registries as TitanRL does, and says what each became."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def loaded(path: Path) -> Any:
    """The configuration that a file's `rl()` gives."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.rl()


for name in sys.argv[1:]:
    config = loaded(Path(name))
    trainer, loop = config.trainer, config.async_loop
    print(
        json.dumps(
            {
                "name": Path(name).stem,
                "kind": f"{type(config).__module__}.{type(config).__qualname__}",
                "steps": loop.num_training_steps,
                "ranks": trainer.parallelism.data_parallel_shard_degree * trainer.parallelism.tensor_parallel_degree,
                "context": config.rollouter.token_env.max_rollout_tokens,
                "optimizer": trainer.optimizer.implementation,
                "normalize": config.rollouter.advantage.should_std_normalize,
            }
        )
    )
