"""Our settings beside Axolotl's keys. Standard library only: the engine side explains the engine's errors with it."""

from __future__ import annotations

SAME: dict[str, str] = {
    "model.path": "base_model",
    "model.revision": "revision_of_model",
    "model.attention": "attn_implementation",
    "lora.r": "lora_r",
    "lora.alpha": "lora_alpha",
    "lora.dropout": "lora_dropout",
    "training.learning_rate": "learning_rate",
    "training.epochs": "num_epochs",
    "training.max_steps": "max_steps",
    "training.batch_size": "micro_batch_size",
    "training.gradient_accumulation": "gradient_accumulation_steps",
    "training.max_length": "sequence_len",
    "training.lr_scheduler": "lr_scheduler",
    "training.warmup_steps": "warmup_steps",
    "training.weight_decay": "weight_decay",
    "training.optimizer": "optimizer",
    "training.packing": "sample_packing",
    "training.seed": "seed",
    "training.logging_steps": "logging_steps",
    "training.save_steps": "save_steps",
    "training.save_total_limit": "save_total_limit",
    "training.eval_steps": "eval_steps",
}
"""Settings that one key takes over as they are."""

WHERE_SET: dict[str, str] = {
    "model.trust_remote_code": "trust_remote_code",
    "lora.use_rslora": "peft_use_rslora",
    "lora.modules_to_save": "lora_modules_to_save",
    "training.adam_beta1": "adam_beta1",
    "training.adam_beta2": "adam_beta2",
    "training.max_grad_norm": "max_grad_norm",
}
"""The same, written only where they differ from the default, which both sides share."""

TRANSLATED: dict[str, tuple[str, ...]] = {
    "method": ("adapter", "load_in_4bit", "load_in_8bit"),
    "data.train": ("datasets", "pretraining_dataset"),
    "data.eval": ("test_datasets", "val_set_size"),
    "lora.target_modules": ("lora_target_modules", "lora_target_linear"),
    "training.precision": ("bf16", "fp16", "float16", "bfloat16", "float32"),
    "training.gradient_checkpointing": ("gradient_checkpointing",),
    "training.loss_on": ("train_on_inputs",),
    "hardware.sharding": ("fsdp", "fsdp_version", "fsdp_config", "deepspeed"),
    "tracking.wandb": ("use_wandb", "wandb_mode", "wandb_name"),
    "tracking.tensorboard": ("use_tensorboard",),
    "tracking.trackio": ("use_trackio",),
    "tracking.project": ("wandb_project", "trackio_project_name"),
}
"""Settings that become several keys, or other values."""

KEPT: dict[str, str] = {
    "output_dir": "the run folder decides it",
    "dataset_prepared_path": "the run folder decides it",
    "axolotl_config_path": "Axolotl notes it for itself",
    "resume_from_checkpoint": "resuming is the runner's: post-train run --resume RUN",
    "auto_resume_from_checkpoints": "resuming is the runner's: post-train run --resume RUN",
    "lora_model_dir": "it is a parent that no run would know of; start from the run that made it: --from RUN",
    "save_only_model": "a checkpoint without optimizer state can't be resumed",
    "hub_model_id": "a run pushes nothing to a hub",
    "hub_strategy": "a run pushes nothing to a hub",
    "hub_revision": "a run pushes nothing to a hub",
    "push_dataset_to_hub": "a run pushes nothing to a hub",
    "auto_find_batch_size": "it changes the batch behind the plan's back",
    "use_ray": "ranks are started by torchrun",
    "ray_num_workers": "ranks are started by torchrun",
    "ray_run_name": "ranks are started by torchrun",
    "resources_per_worker": "ranks are started by torchrun",
    "merge_lora": "merging is a stage of its own: post-train merge RUN",
    "wandb_run_id": "a run has an id of its own",
    "comet_api_key": "a secret has no place in a recipe; log in with the tracker's own command",
    "model_revision": "it is called revision_of_model once Axolotl has read it; set model.revision",
}
"""Keys that a recipe may not set, and why."""

CADENCE: tuple[str, ...] = (
    "eval_strategy",
    "evaluation_strategy",
    "evals_per_epoch",
    "save_strategy",
    "saves_per_epoch",
    "val_set_size",
    "warmup_ratio",
    "early_stopping_patience",
    "load_best_model_at_end",
)
"""Keys of which none is a setting of ours, that decide how long a run is, and when it validates and saves."""

BOUNDED = (
    *CADENCE,
    *("warmup_steps", "save_steps", "eval_steps", "test_datasets", "do_bench_eval", "loss_watchdog_threshold"),
)
"""Native keys that give way where a run is bounded from outside."""

NOT_SFT = ("rl", "reward_model", "process_reward_model", "ebft")
"""Keys that make a configuration one of another stage."""

DATA: tuple[str, ...] = ("datasets", "pretraining_dataset")
"""Keys that name training rows in the engine's own way."""


def ours(key: str) -> str | None:
    """Our setting behind an engine key, or None where there is none."""
    one = {theirs: setting for setting, theirs in (SAME | WHERE_SET).items()}
    several = {theirs: setting for setting, group in TRANSLATED.items() for theirs in group}
    return (one | several).get(key.split(".", maxsplit=1)[0])


def keys() -> dict[str, tuple[str, ...]]:
    """Setting -> the keys that it may be written to."""
    return {setting: (key,) for setting, key in (SAME | WHERE_SET).items()} | TRANSLATED
