"""Settings of DPO and GRPO that would fail, or teach nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backends.trainer import items, metrics
from backends.trl import schema, steps
from backends.trl.config import CONFIGS
from backends.trl.native import document
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Loss, groups, checkpoints and rewards."""
    if spec.stage == "sft":
        return []
    config = document(spec, job)["config"]
    shared = list(_loss(spec, config))
    if spec.stage == "dpo":
        return shared
    judged = _task(spec) if spec.task.name else _rewards(spec)
    return [*shared, *_groups(spec, job, config), *judged, *_held_out(spec)]


def _loss(spec: RunSpec, config: dict[str, Any]) -> Iterator[Finding]:
    names = schema.fields(CONFIGS[spec.stage])["loss_type"]["choices"]
    if spec.rl.loss_type not in names:
        message = f"unknown rl.loss_type {spec.rl.loss_type!r} for {spec.stage}{nearest(spec.rl.loss_type, names)}"
        yield _error("loss_type", message, fix=f"rl.loss_type: {'sigmoid' if spec.stage == 'dpo' else 'dapo'}")
    if spec.stage == "dpo" and spec.rl.beta == 0:
        yield _error("beta", "with rl.beta 0 the DPO loss is constant and nothing is learned", fix="rl.beta: 0.1")
    if spec.rl.loss_type == "exo_pair" and not config.get("label_smoothing"):
        message = "loss exo_pair needs label smoothing above 0, and TRL refuses it otherwise"
        yield _error("loss_type", message, fix="native: {config: {label_smoothing: 0.001}}")


def _groups(spec: RunSpec, job: Job, config: dict[str, Any]) -> Iterator[Finding]:
    size, processes = config["per_device_train_batch_size"], spec.hardware.processes
    completions = size * processes * config["steps_per_generation"]
    if completions % config["num_generations"]:
        yield _error(
            "groups",
            f"one generation makes {completions} completions ({size} x {processes} processes x "
            f"{config['steps_per_generation']} steps), no multiple of rl.num_generations {config['num_generations']}",
            fix="make training.batch_size x hardware.processes x training.gradient_accumulation a multiple of it",
        )
        return
    prompts = steps.prompts_per_generation(config, processes)
    rows = min(job.rows or prompts, spec.data.max_rows or prompts)
    if rows < prompts:
        message = f"{rows} prompts are fewer than the {prompts} that one generation takes: no step would be made"
        yield _error("groups", message, fix="give more prompts, or lower training.batch_size")
    every, save = steps.generation_every(config), config.get("save_steps")
    if isinstance(save, int) and save % every:
        yield _error(
            "save_steps",
            f"GRPO generates every {every} steps; checkpoints every {save} steps lie between and resume inexactly",
            fix=f"training.save_steps: a multiple of {every}",
        )


def _task(spec: RunSpec) -> Iterator[Finding]:
    if spec.hardware.sharding == "fsdp2":
        message = "episodes of a task end after different turns, but ranks that share weights must generate together"
        yield _error("task", message, fix="hardware.sharding: ddp")


def _held_out(spec: RunSpec) -> Iterator[Finding]:
    if spec.rl.held_out is None or not Path(spec.rl.held_out).is_file():
        return  # a missing file is told with the other data files
    if spec.hardware.sharding == "fsdp2":
        message = "held-out items are answered by one rank, and fsdp2 spreads the model over all"
        yield _error("held_out", message, fix="remove rl.held_out, and eval the finished run")
    metric = spec.rl.held_out_metric
    if metric in spec.rl.reward or metric.removeprefix("reward:") in spec.rl.reward:
        message = "rl.held_out_metric is the reward itself, which can't show that the reward is being gamed"
        yield _error("held_out", message, fix="judge the answers by what you want: rl.held_out_metric: exact")
    elif not metric.startswith("reward:") and metrics.rule(metric) is None:
        message = f"unknown rl.held_out_metric {metric!r}{nearest(metric, metrics.NAMES)}"
        yield _error("held_out", message, fix="rl.held_out_metric: exact")
    try:
        items.read(Path(spec.rl.held_out), needs_answer=not metric.startswith("reward:"), limit=spec.rl.held_out_items)
    except items.ItemsError as error:
        yield _error("held_out", error.message, fix=error.fix)


def _rewards(spec: RunSpec) -> Iterator[Finding]:
    if not spec.rl.reward:
        yield _error("reward", "GRPO has no reward function", fix="rl.reward: [./reward.py:score]")
    for reference in spec.rl.reward:
        source, _, name = reference.rpartition(":")
        if not source or not name:
            yield _error("reward", f"rl.reward {reference!r} names no function", fix="rl.reward: [./reward.py:score]")
        elif source.endswith(".py"):
            yield from _reward_file(Path(source), name)


def _reward_file(path: Path, name: str) -> Iterator[Finding]:
    """Read, never run: a plan executes no code of the user's."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeError, SyntaxError, ValueError) as error:
        yield _error("reward", f"reward file {path}: {error}", fix="correct rl.reward or the file")
        return
    names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    bound = {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    bound |= {a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    if name not in names and name not in bound:
        yield _error("reward", f"{path} defines no {name!r}{nearest(name, names)}", fix="correct rl.reward")


def _error(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"trl.{code}", level="error", message=message, fix=fix)
