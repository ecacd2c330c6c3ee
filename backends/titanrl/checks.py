"""Everything this engine has to say about a spec before it is run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.titanrl import native, settings
from backends.titanrl.settings import Titan
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """All problems at once; the native keys first, without which nothing else can be read."""
    wrong = list(settings.faults(spec))
    if wrong:
        return wrong
    titan = settings.read(spec)
    return [
        *_vocabulary(spec),
        *_groups(spec),
        *_lengths(spec),
        *_model(titan, Path(job.model.path), bool(job.machine.gpus)),
        *_gpus(titan, job),
    ]


def _vocabulary(spec: RunSpec) -> Iterator[Finding]:
    if not spec.task.name:
        yield _error("task", "TitanRL optimises a task, and none is named", "--task qa, or a file of your own")
    if spec.training.max_steps is None:
        yield _advice("steps", "a task has no end: 10 steps are made", "training.max_steps: 100")
    if spec.rl.beta:
        yield _advice("beta", f"rl.beta {spec.rl.beta} has no effect: TitanRL has no KL term", "rl.beta: 0")
    if spec.rl.loss_type not in ("dapo", "grpo"):
        yield _error("loss_type", f"rl.loss_type {spec.rl.loss_type!r} is not TitanRL's", "rl.loss_type: dapo or grpo")
    if spec.hardware.processes > 1:
        message = "hardware.processes says nothing to TitanRL, whose trainer and generators have ranks of their own"
        yield _error("processes", message, "native: {trainer: {shard: 2}, generator: {tensor: 1}}")


def _groups(spec: RunSpec) -> Iterator[Finding]:
    training, group = spec.training, spec.rl.num_generations
    completions = training.batch_size * training.gradient_accumulation
    if completions % group:
        yield _error(
            "groups",
            f"a step takes {completions} completions (training.batch_size x gradient_accumulation), no multiple of "
            f"rl.num_generations {group}",
            f"training.gradient_accumulation: {group}",
        )


def _lengths(spec: RunSpec) -> Iterator[Finding]:
    if spec.rl.max_completion_length >= spec.training.max_length:
        yield _error(
            "lengths",
            f"rl.max_completion_length {spec.rl.max_completion_length} leaves no room for a prompt within "
            f"training.max_length {spec.training.max_length}, which holds the whole episode",
            f"training.max_length: {2 * spec.rl.max_completion_length}, or fewer tokens a turn",
        )


def _model(titan: Titan, folder: Path, gpu: bool) -> Iterator[Finding]:
    config = native.config(folder)
    text = config.get("text_config") or config
    heads, tensor = text.get("num_key_value_heads"), titan.generator.tensor
    if isinstance(heads, int) and tensor > heads:
        message = f"native.generator.tensor {tensor} is more than the model's {heads} key-value heads"
        yield _error("heads", message, f"native.generator.tensor: {heads}")
    size = text.get("head_dim")
    if not gpu and isinstance(size, int) and size % 32:
        message = f"the model's attention heads have {size} dimensions; vLLM on a CPU takes multiples of 32"
        yield _error("head_dim", message, "a model with another head_dim, a GPU, or --backend trl")
    if folder.is_dir() and not _template(folder):
        message = f"{folder} has no chat template: prompts would be rendered by guess, and answers come out empty"
        yield _error("template", message, "carry chat_template.jinja over from where the model was made")
    if config and config.get("model_type") not in ("qwen3", "muse_glimmer"):
        kind = config.get("model_type")
        yield _error(
            "model", f"TitanRL 0.3.0 is set up here for qwen3 and muse_glimmer, not for {kind}", "--backend trl"
        )


def _template(folder: Path) -> bool:
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return True
    try:
        return '"chat_template"' in (folder / "tokenizer_config.json").read_text(encoding="utf-8")
    except OSError:
        return False


def _gpus(titan: Titan, job: Job) -> Iterator[Finding]:
    """One rank a GPU, trainer and engines apart."""
    wanted, there = titan.trainer.ranks + titan.generator.ranks, len(job.machine.gpus)
    if there and wanted > there:
        message = f"trainer and generators take {titan.trainer.ranks} + {titan.generator.ranks} GPUs; here are {there}"
        yield _error("gpus", message, "lower native.trainer and native.generator")


def _error(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"titanrl.{code}", level="error", message=message, fix=fix)


def _advice(code: str, message: str, fix: str) -> Finding:
    return Finding(code=f"titanrl.{code}", level="advice", message=message, fix=fix)
