"""What a recipe says, as the words that stand in a `config_registry.py`, whichever TitanRL reads it."""

from __future__ import annotations

from dataclasses import dataclass

from backends.titanrl.settings import Titan
from orchestrator.backend import Job
from orchestrator.spec import RunSpec

_DECAY = {"linear": "linear", "cosine": "cosine", "cosine_with_min_lr": "cosine"}
"""Schedules of ours -> TitanRL's; the constant ones are a smallest factor of 1."""


GLIMMER = "muse_glimmer"


@dataclass(frozen=True)
class Choice:
    """What `auto` became: whether there is a GPU, the kind of model, the renderer, the dtype the model is stored in."""

    gpu: bool
    kind: str
    renderer: str
    stored: str


def of(spec: RunSpec, job: Job, titan: Titan, choice: Choice) -> dict[str, object]:
    """Every word that a generation's file has a place for."""
    return {
        **_run(spec, job, titan),
        **_system(spec, titan, choice),
        **_task(spec, titan, choice),
    }


def prompts(spec: RunSpec) -> int:
    """Groups that make one optimizer step."""
    training = spec.training
    return max(1, training.batch_size * training.gradient_accumulation // spec.rl.num_generations)


def steps(spec: RunSpec) -> int:
    """Optimizer steps; a task has no end of its own."""
    return spec.training.max_steps or 10


def saving(spec: RunSpec) -> int:
    """Steps between checkpoints: ten a run unless the recipe says."""
    return spec.training.save_steps or max(1, steps(spec) // 10)


def dtype(spec: RunSpec, gpu: bool) -> str:
    """What the trainer computes in. Without a GPU float32 is both faster and exact."""
    asked = {"bf16": "bfloat16", "fp32": "float32"}.get(spec.training.precision)
    return asked or ("bfloat16" if gpu else "float32")


def _run(spec: RunSpec, job: Job, titan: Titan) -> dict[str, object]:
    training = spec.training
    return {
        "model": repr(job.model.path),
        "folder": repr(str(job.run_dir / "titanrl")),
        "steps": steps(spec),
        "prompts": prompts(spec),
        "group": spec.rl.num_generations,
        "offpolicy": titan.offpolicy_steps,
        "drop": titan.drop_equal_groups,
        "validation": titan.validation_samples,
        "context": training.max_length,
        "stall": titan.stall_minutes,
        "seed": training.seed,
        "interval": saving(spec),
        "keep": max(2, training.save_total_limit),
        "tensorboard": spec.tracking.tensorboard,
        "wandb": spec.tracking.wandb != "off",
        "project": repr(spec.tracking.project),
    }


def _system(spec: RunSpec, titan: Titan, choice: Choice) -> dict[str, object]:
    training, trainer, generator = spec.training, titan.trainer, titan.generator
    precise = dtype(spec, choice.gpu)
    return {
        **_model(titan, choice),
        "compile": choice.gpu and choice.kind != GLIMMER,
        "compiled": 'CompileConfig(backend="aot_eager")' if choice.kind != GLIMMER else "None",
        "compile_import": "CompileConfig, " if choice.kind != GLIMMER else "",
        "graphs": repr("NONE" if choice.kind == GLIMMER else "FULL"),
        "rate": training.learning_rate,
        "betas": (training.adam_beta1, training.adam_beta2),
        "decay": training.weight_decay,
        "warmup": training.warmup_steps,
        "decay_type": repr(_DECAY.get(training.lr_scheduler, "linear")),
        "min_factor": {"cosine_with_min_lr": 0.1}.get(training.lr_scheduler, 0.0 if _decays(spec) else 1.0),
        "norm": training.max_grad_norm,
        "precise": repr(precise),
        "replicate": trainer.replicate,
        "shard": trainer.shard,
        "tensor": trainer.tensor,
        "expert": trainer.expert,
        "moments": repr(titan.moments),
        "optimizer": _optimizer(spec, titan),
        "checkpointing": "FullAC.Config()" if spec.training.gradient_checkpointing else "None",
        "backend": "" if choice.gpu or choice.kind == GLIMMER else '\n                spmd_backend="partial_dtensor",',
        "loss_name": _loss(spec, titan)[0],
        "loss": _loss(spec, titan)[1],
        "loss_sized": _sized(_loss(spec, titan)[1]),
        "engines": generator.count,
        "generator_dtype": repr(precise if generator.dtype == "auto" else generator.dtype),
        "generator_data": generator.data,
        "generator_tensor": generator.tensor,
        "generator_expert": generator.expert,
        "memory": generator.memory,
        "temperature": spec.rl.temperature,
        "stored": repr(choice.stored),
        "tokens": spec.rl.max_completion_length,
    }


def _model(titan: Titan, choice: Choice) -> dict[str, object]:
    """Muse Glimmer takes varlen attention in both roles, not compiled, without CUDA graphs: so its recipes have it."""
    backend = "flex" if choice.gpu and choice.kind != GLIMMER else "varlen"
    function = "from_flavor" if titan.flavor else "from_folder"
    named = f"HF_ASSETS, {titan.flavor!r}" if titan.flavor else "HF_ASSETS"
    length = "" if choice.kind == GLIMMER else "seq_len=CONTEXT, "
    return {
        "kind": choice.kind,
        "spec_function": function,
        "spec_call": f"{function}({named}, attn_backend={backend!r})",
        "model_call": f"({titan.flavor!r}, {length}attn_backend='varlen')",
    }


def _optimizer(spec: RunSpec, titan: Titan) -> str:
    """The optimizer of 0.3.0, whose moments' dtype is a way to implement it."""
    training = spec.training
    betas = (training.adam_beta1, training.adam_beta2)
    made = f"default_adamw(lr={training.learning_rate}, betas={betas}, weight_decay={training.weight_decay})"
    return made if titan.moments == "float32" else f'replace({made}, implementation="fused_opt_states_bf16")'


def _decays(spec: RunSpec) -> bool:
    return spec.training.lr_scheduler in _DECAY


def _loss(spec: RunSpec, titan: Titan) -> tuple[str, str]:
    if spec.rl.loss_type == "grpo":
        return "GRPOLoss", "GRPOLoss.Config(clip_eps=0.2)"
    return "DAPOLoss", f"DAPOLoss.Config(ratio_clip_low=0.2, ratio_clip_high={titan.clip_high})"


def _sized(loss: str) -> str:
    """The loss with the vocabulary's size, without which a trainer with tensor parallelism fails at the first step."""
    name, _, rest = loss.partition("(")
    head = " " * 20
    return f"{name}(\n{head}{rest[:-1]}, global_vocab_size=decoder_vocab_size(model)\n{head[4:]})"


def _task(spec: RunSpec, titan: Titan, choice: Choice) -> dict[str, object]:
    return {
        "task": repr(spec.task.name),
        "options": repr(spec.task.texts),
        "truncation": titan.truncation_reward,
        "normalize": titan.normalize_advantages,
        "timeout": titan.step_timeout,
        "renderer": repr(choice.renderer),
        "thinking": titan.thinking,
        "glimmer": _glimmer(titan),
    }


def _glimmer(titan: Titan) -> str:
    """What Muse Glimmer's renderer is told, in its own words."""
    told: dict[str, object] = {
        "reasoning_strength": titan.reasoning_strength,
        "retain_reasoning_in_history": titan.retain_reasoning,
        "answer_from_reasoning_fallback": titan.answer_from_reasoning,
    }
    told |= {} if titan.current_date is None else {"current_date": titan.current_date}
    return "".join(f"\n            {name}={value!r}," for name, value in told.items()) + "\n        "
