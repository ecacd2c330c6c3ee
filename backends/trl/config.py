"""The trainer's configuration: keyword arguments of SFTConfig, DPOConfig or GRPOConfig."""

from __future__ import annotations

import math
from typing import Any

from backends.trl import steps
from backends.trl.choices import Choices
from orchestrator.backend import Job
from orchestrator.spec import RunSpec

TRAINERS = {"sft": "SFTTrainer", "dpo": "DPOTrainer", "grpo": "GRPOTrainer"}
CONFIGS = {"sft": "SFTConfig", "dpo": "DPOConfig", "grpo": "GRPOConfig"}

Kwargs = dict[str, Any]


def trainer_config(spec: RunSpec, job: Job, chosen: Choices) -> Kwargs:
    """Everything the spec says about training, in the engine's words."""
    config = _common(spec, job, chosen) | _stage(spec, chosen)
    config |= native(spec, "config")
    merged = config | steps.saving(spec, job, config) | _evaluation(spec, config) | native(spec, "config")
    shards = native(spec, "config").get("fsdp_config")
    return merged | ({"fsdp_config": _fsdp() | shards} if isinstance(shards, dict) else {})


def native(spec: RunSpec, section: str) -> Kwargs:
    """The user's own keys for one section, as they stand in the recipe."""
    given = spec.native.get(section)
    return dict(given) if isinstance(given, dict) else {}


def _common(spec: RunSpec, job: Job, chosen: Choices) -> Kwargs:
    return {
        "output_dir": str(job.run_dir / "checkpoints"),
        **_optimisation(spec),
        **_compute(spec, chosen),
        **_reporting(spec),
        "save_total_limit": spec.training.save_total_limit,
        "seed": spec.training.seed,
        "data_seed": spec.training.seed,
        "trust_remote_code": job.model.trust_remote_code,
    }


def _optimisation(spec: RunSpec) -> Kwargs:
    training = spec.training
    return {
        "num_train_epochs": training.epochs,
        "max_steps": training.max_steps or -1,
        "per_device_train_batch_size": training.batch_size,
        "gradient_accumulation_steps": training.gradient_accumulation,
        "learning_rate": training.learning_rate,
        "lr_scheduler_type": training.lr_scheduler,
        **({"lr_scheduler_kwargs": {"min_lr_rate": 0.1}} if training.lr_scheduler == "cosine_with_min_lr" else {}),
        "warmup_steps": training.warmup_steps,
        "weight_decay": training.weight_decay,
        "adam_beta1": training.adam_beta1,
        "adam_beta2": training.adam_beta2,
        "max_grad_norm": training.max_grad_norm,
        "optim": training.optimizer,
    }


def _compute(spec: RunSpec, chosen: Choices) -> Kwargs:
    """Both precisions are written out: TRL turns bf16 and gradient checkpointing on where nothing is said."""
    return {
        "bf16": chosen.precision == "bf16",
        "fp16": chosen.precision == "fp16",
        "gradient_checkpointing": chosen.checkpointing,
        **({} if chosen.gpu else {"use_cpu": True, "dataloader_pin_memory": False}),
        **({"fsdp": True, "fsdp_config": _fsdp()} if spec.hardware.sharding == "fsdp2" else {}),
    }


def _fsdp() -> Kwargs:
    """Sharded checkpoints: gathering a large model on one rank at every save costs its memory and minutes."""
    return {"version": 2, "reshard_after_forward": True, "state_dict_type": "SHARDED_STATE_DICT"}


def _reporting(spec: RunSpec) -> Kwargs:
    """The NaN filter goes off: it writes the average of earlier losses where a NaN was."""
    tracking = spec.tracking
    wanted = {"wandb": tracking.wandb != "off", "tensorboard": tracking.tensorboard, "trackio": tracking.trackio}
    return {
        "logging_steps": spec.training.logging_steps,
        "logging_nan_inf_filter": False,
        "disable_tqdm": True,
        "report_to": [name for name, on in wanted.items() if on],
        "run_name": spec.name,
        "project": tracking.project,
        **({"trackio_static_space_id": False} if tracking.trackio else {}),
    }


def _stage(spec: RunSpec, chosen: Choices) -> Kwargs:
    if spec.stage == "sft":
        return {"max_length": spec.training.max_length, "packing": spec.training.packing, "eval_packing": False}
    if spec.stage == "dpo":
        return {
            "max_length": spec.training.max_length,
            "beta": spec.rl.beta,
            "loss_type": [spec.rl.loss_type],
            "disable_dropout": _no_dropout(spec),
        }
    return _grpo(spec, chosen)


def _grpo(spec: RunSpec, chosen: Choices) -> Kwargs:
    return {
        "beta": spec.rl.beta,
        "loss_type": spec.rl.loss_type,
        "num_generations": spec.rl.num_generations,
        "steps_per_generation": spec.training.gradient_accumulation,
        "max_completion_length": spec.rl.max_completion_length,
        "temperature": spec.rl.temperature,
        "disable_dropout": _no_dropout(spec),
        "use_vllm": chosen.vllm,
        **({"vllm_mode": "colocate", "vllm_max_model_length": spec.training.max_length} if chosen.vllm else {}),
    }


def _no_dropout(spec: RunSpec) -> bool:
    """TRL's DPO switches dropout off by default, the adapter's too, which would ignore `lora.dropout`."""
    return spec.method == "full" or spec.lora.dropout == 0


def _evaluation(spec: RunSpec, config: Kwargs) -> Kwargs:
    if spec.data.eval is None and not (spec.task.name and spec.training.eval_steps):
        return {"eval_strategy": "no"}
    when = {"eval_strategy": "steps", "eval_steps": spec.training.eval_steps}
    size = int(config["per_device_train_batch_size"])
    if spec.stage == "grpo":
        group = math.lcm(int(config["num_generations"]), spec.hardware.processes) // spec.hardware.processes
        size = math.ceil(size / group) * group
    return {**(when if spec.training.eval_steps else {"eval_strategy": "epoch"}), "per_device_eval_batch_size": size}
