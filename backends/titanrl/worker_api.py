"""TitanRL's classes under one name each, wherever the installed generation keeps them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from torchtitan.config import Configurable

RELEASE = find_spec("torchtitan.experiments.rl") is not None
"""0.3.0; later `torchtitan.rl`, where the files have other names."""
_PLACES = (
    {
        "train": "torchtitan.experiments.rl.train",
        "environment": "torchtitan.experiments.rl.environment",
        "rubric": "torchtitan.experiments.rl.rubrics",
        "metrics": "torchtitan.experiments.rl.observability.metrics",
        "logging": "torchtitan.tools.logging",
    }
    if RELEASE
    else {
        "train": "torchtitan.rl.train",
        "environment": "torchtitan.rl.rollout.environment",
        "rubric": "torchtitan.rl.rubric",
        "metrics": "torchtitan.rl.observability.metrics",
        "logging": "torchtitan.observability.logging",
    }
)


def module(name: str) -> Any:
    """A module of TitanRL's by what is in it."""
    return import_module(_PLACES[name])


def dataset() -> Any:
    """What a dataset of samples derives from: `RLDataset` since October 2026."""
    if not RELEASE and find_spec("torchtitan.rl.components.data") is not None:
        return import_module("torchtitan.rl.components.data").RLDataset
    return Configurable


MessageEnv = module("environment").MessageEnv
MessageEnvInitOutput = module("environment").MessageEnvInitOutput
MessageEnvStepOutput = module("environment").MessageEnvStepOutput
RewardFn = module("rubric").RewardFn
Rubric = module("rubric").Rubric
MetricsProcessor = module("metrics").MetricsProcessor
Dataset = dataset()
