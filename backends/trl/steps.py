"""How many optimizer steps a run has, where GRPO generates, and how often to save."""

from __future__ import annotations

import math
from typing import Any

from orchestrator.backend import Job
from orchestrator.spec import RunSpec

CHECKPOINTS = 10
"""Checkpoints a run writes when nobody says how often."""

CADENCE = (
    *("num_train_epochs", "max_steps", "gradient_accumulation_steps", "warmup_steps"),
    *("logging_strategy", "logging_steps", "logging_first_step", "save_strategy", "save_steps"),
    *("do_eval", "eval_strategy", "eval_steps", "eval_delay", "eval_on_start", "load_best_model_at_end"),
    *("steps_per_generation", "num_iterations"),
)
"""Keywords of the trainer's configuration that say how long to train, or how often to log, save, validate and generate.

`num_iterations` moves the steps at which GRPO generates, and only there a checkpoint resumes exactly.
"""


def generation_every(config: dict[str, Any]) -> int:
    """Optimizer steps between two moments at which GRPO generates anew. Only there does a resume repeat exactly."""
    accumulation = int(config["gradient_accumulation_steps"])
    micro = int(config["steps_per_generation"]) * int(config.get("num_iterations", 1))
    return math.lcm(accumulation, micro) // accumulation


def prompts_per_generation(config: dict[str, Any], processes: int) -> int:
    """Prompts that one generation takes from the data."""
    completions = int(config["per_device_train_batch_size"]) * processes * int(config["steps_per_generation"])
    return completions // int(config["num_generations"])


def total(spec: RunSpec, job: Job, config: dict[str, Any]) -> int | None:
    """Optimizer steps of the whole run; None when the number of rows is unknown, or packing changes it."""
    if spec.training.max_steps:
        return spec.training.max_steps
    if job.rows is None or spec.training.packing:
        return None
    rows = min(job.rows, spec.data.max_rows or job.rows)
    per_epoch = math.ceil(_micro_steps(spec, rows, config) / int(config["gradient_accumulation_steps"]))
    return math.ceil(spec.training.epochs * max(per_epoch, 1))


def _micro_steps(spec: RunSpec, rows: int, config: dict[str, Any]) -> int:
    processes = spec.hardware.processes
    if spec.stage == "grpo":
        generations = rows // max(prompts_per_generation(config, processes), 1)
        return generations * int(config["steps_per_generation"]) * int(config.get("num_iterations", 1))
    return math.ceil(rows / (int(config["per_device_train_batch_size"]) * processes))


def saving(spec: RunSpec, job: Job, config: dict[str, Any]) -> dict[str, Any]:
    """`save_strategy` and `save_steps`. Without a wish: ten a run, and in GRPO where it generates anew.

    A fraction is read by the trainer as a share of its steps, which serves when only it can count them; GRPO that
    generates less than once a step saves at the end of an epoch then, which is always a good place.
    """
    if spec.training.save_steps:
        return {"save_strategy": "steps", "save_steps": spec.training.save_steps}
    every, steps = generation_every(config) if spec.stage == "grpo" else 1, total(spec, job, config)
    if steps is not None:
        return {"save_strategy": "steps", "save_steps": math.ceil(math.ceil(steps / CHECKPOINTS) / every) * every}
    return {"save_strategy": "steps", "save_steps": 1 / CHECKPOINTS} if every == 1 else {"save_strategy": "epoch"}
