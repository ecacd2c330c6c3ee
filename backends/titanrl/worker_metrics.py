"""TitanRL's metrics as events of the run, and a look at what else matters after each step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.titanrl.worker_api import MetricsProcessor
from backends.titanrl.worker_life import LIFE
from orchestrator.harness import WorkError

_NAMES = {
    "loss/mean": "loss",
    "trainer/grad_norm/mean": "grad_norm",
    "trainer/lr": "learning_rate",
    "trainer/entropy/mean": "entropy",
    "rollout_reward/_mean": "reward",
    "rollout/response_length/mean": "completions/mean_length",
    "rollout_reward/group_zero_std_frac/mean": "frac_reward_zero_std",
    "rollout/truncation_rate/mean": "completions/clipped_ratio",
    "bit_wise/logprob_diff/max": "trainer_generator/logprob_difference",
    "validation_reward/_mean": "validation/reward",
}
"""TitanRL's key -> ours, where ours is the name that another engine gives the same number. The others stay."""


class EventMetrics(MetricsProcessor):  # type: ignore[misc]
    """Reports each step and each validation."""

    @dataclass(kw_only=True, slots=True)
    class Config(MetricsProcessor.Config):  # type: ignore[misc]
        pass

    def log(self, step: int, metrics: Iterable[Any], *, is_validation: bool = False) -> None:
        """TitanRL calls it after each optimizer step and each validation."""
        kept = list(metrics)
        super().log(step, kept, is_validation=is_validation)
        numbers = {_NAMES.get(key, key): value for key, value in self._aggregate_metrics(kept).items()}
        LIFE.reached(step, numbers, validation=is_validation)


def newest_step(folder: Path) -> int:
    """The newest step that left files in a run's checkpoint folder; 0 for none."""
    return max((int(path.name[5:]) for path in folder.glob("step-*") if path.name[5:].isdigit()), default=0)


def require_end(folder: Path, steps: int) -> Path:
    """The folder of the last step with its weights; TitanRL's exit code says nothing.

    Raises:
        WorkError: training ended before.
    """
    last = folder / f"step-{steps}"
    if any(last.glob("*.safetensors")):
        return last
    raise WorkError(
        "training.short",
        f"TitanRL ended without the weights of step {steps}; the newest checkpoint is step {newest_step(folder)}",
        why="it exits with code 0 for many failures; only the last step's files tell",
        fix="read stderr.log of the attempt, then resume the run",
    )
