"""RunSpec and Job -> the Axolotl configuration, in the order in which people write one. Pure."""

from __future__ import annotations

from typing import Any

from backends.axolotl import data
from backends.axolotl.choices import Choices
from orchestrator.backend import Job
from orchestrator.spec import LoraSpec, RunSpec, TrainingSpec

PLUGIN = "backends.axolotl.worker.PostTrain"
"""Our frame inside the engine: events, stop, proof. Without it the file trains the same."""

Config = dict[str, Any]

KERNELS = ("lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel", "lora_embedding_kernel")
_GIB = 2**30


def configuration(spec: RunSpec, job: Job, chosen: Choices) -> Config:
    """Everything the spec says, in the engine's words; the recipe's own keys come last and win."""
    native = spec.native
    written = {
        **_model(job, chosen),
        **_adapter(spec, chosen),
        **data.section(spec, job),
        **_places(job),
        **_optimisation(spec.training),
        **_precision(chosen),
        **_sharding(spec, job, chosen),
        **_cadence(spec),
        **_tracking(spec),
    }
    merged = {key: value for key, value in written.items() if not _replaced(key, native)}
    for key, value in native.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merged[key] | value if both else value
    return {**merged, "plugins": [*(native.get("plugins") or []), PLUGIN]}


def _model(job: Job, chosen: Choices) -> Config:
    return {
        "base_model": job.model.path,
        **({"revision_of_model": job.model.revision} if job.model.revision else {}),
        **({"trust_remote_code": True} if job.model.trust_remote_code else {}),
        "attn_implementation": chosen.attention,
    }


def _adapter(spec: RunSpec, chosen: Choices) -> Config:
    if spec.method == "full":
        return {}
    lora = spec.lora
    return {
        "adapter": spec.method,
        **({"load_in_4bit": True} if spec.method == "qlora" else {}),
        "lora_r": lora.r,
        "lora_alpha": lora.alpha,
        "lora_dropout": lora.dropout,
        **_targets(lora),
        **({"lora_modules_to_save": list(lora.modules_to_save)} if lora.modules_to_save else {}),
        **({"peft_use_rslora": True} if lora.use_rslora else {}),
        **({} if chosen.gpu else dict.fromkeys(KERNELS, False)),
    }


def _targets(lora: LoraSpec) -> Config:
    if lora.target_modules == "all-linear":
        return {"lora_target_linear": True}
    given = lora.target_modules
    return {"lora_target_modules": given if isinstance(given, str) else list(given)}


def _places(job: Job) -> Config:
    return {
        "output_dir": str(job.run_dir / "checkpoints"),
        "dataset_prepared_path": str(job.run_dir / "prepared"),
    }


def _optimisation(training: TrainingSpec) -> Config:
    changed = {key for key in ("adam_beta1", "adam_beta2", "max_grad_norm") if _differs(training, key)}
    # Axolotl's own optimizers take the betas as a pair, or not at all
    pair = {"adam_beta1", "adam_beta2"} if changed - {"max_grad_norm"} else set[str]()
    further = {key: getattr(training, key) for key in sorted(changed | pair)}
    return {
        "sequence_len": training.max_length,
        "sample_packing": training.packing,
        "micro_batch_size": training.batch_size,
        "gradient_accumulation_steps": training.gradient_accumulation,
        "num_epochs": training.epochs,
        **({"max_steps": training.max_steps} if training.max_steps else {}),
        "optimizer": training.optimizer,
        "learning_rate": training.learning_rate,
        "lr_scheduler": training.lr_scheduler,
        **({"lr_scheduler_kwargs": {"min_lr_rate": 0.1}} if training.lr_scheduler == "cosine_with_min_lr" else {}),
        "warmup_steps": training.warmup_steps,
        "weight_decay": training.weight_decay,
        **further,
        "seed": training.seed,
    }


def _differs(training: TrainingSpec, key: str) -> bool:
    return bool(getattr(training, key) != TrainingSpec.model_fields[key].default)


def _precision(chosen: Choices) -> Config:
    """Written out: `auto` would become fp16 without a GPU."""
    return {
        "bf16": chosen.precision == "bf16",
        "fp16": chosen.precision == "fp16",
        **({} if chosen.gpu else {"tf32": False}),
    }


def _sharding(spec: RunSpec, job: Job, chosen: Choices) -> Config:
    if spec.hardware.sharding != "fsdp2":
        many = spec.hardware.processes > 1 and not chosen.gpu
        # without a limit the engine maps the model onto accelerators numbered by rank, which are not there
        limit = f"{max(1, job.machine.memory // spec.hardware.processes // _GIB)}GiB"
        return {"gradient_checkpointing": chosen.checkpointing, **({"max_memory": {"cpu": limit}} if many else {})}
    return {"gradient_checkpointing": False, "fsdp_version": 2, "fsdp_config": _fsdp(chosen)}


def _fsdp(chosen: Choices) -> Config:
    """Sharded checkpoints, one whole model at the end: gathering at each save costs one rank all the memory."""
    return {
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "reshard_after_forward": True,
        "activation_checkpointing": chosen.checkpointing,
        "cpu_ram_efficient_loading": True,
        "state_dict_type": "SHARDED_STATE_DICT",
        "final_state_dict_type": "FULL_STATE_DICT",
    }


def _cadence(spec: RunSpec) -> Config:
    """Ten checkpoints a run where nobody says how often: a fraction is a share of the run's steps."""
    training = spec.training
    evaluation: Config = {}
    if spec.data.eval:
        every = {"eval_steps": training.eval_steps} if training.eval_steps else {"eval_strategy": "epoch"}
        evaluation = every | {"eval_batch_size": training.batch_size}
    return {
        "logging_steps": training.logging_steps,
        "save_steps": training.save_steps or 0.1,
        "save_total_limit": training.save_total_limit,
        **evaluation,
    }


def _tracking(spec: RunSpec) -> Config:
    tracking = spec.tracking
    wandb = {
        "use_wandb": True,
        "wandb_mode": tracking.wandb,
        "wandb_project": tracking.project,
        "wandb_name": spec.name,
    }
    return {
        **(wandb if tracking.wandb != "off" else {}),
        **({"use_tensorboard": True} if tracking.tensorboard else {}),
        **({"use_trackio": True, "trackio_project_name": tracking.project} if tracking.trackio else {}),
    }


_REPLACES = {
    "saves_per_epoch": ("save_steps",),
    "save_strategy": ("save_steps",),
    "evals_per_epoch": ("eval_strategy",),
    "eval_strategy": ("eval_steps",),
    "warmup_ratio": ("warmup_steps",),
    "batch_size": ("gradient_accumulation_steps",),
    "pretraining_dataset": ("datasets",),
}
"""A native key that says in another way what keys of ours say; a strategy of `steps` only says that these hold."""


def _replaced(key: str, native: Config) -> bool:
    return any(key in _REPLACES.get(given, ()) for given, value in native.items() if value not in (None, "steps"))
