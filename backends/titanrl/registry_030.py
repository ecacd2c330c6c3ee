"""The text of `config_registry.py` for TitanRL 0.3.0, `torchtitan.experiments.rl`.

The system (model, parallelism, loss, trainer, generator) and the task are two functions, joined by `with_task`.
"""

from __future__ import annotations

from dataclasses import dataclass

from backends.titanrl.settings import Titan
from orchestrator.backend import Job
from orchestrator.spec import RunSpec

_DECAY = {"linear": "linear", "cosine": "cosine", "cosine_with_min_lr": "cosine"}
"""Schedules of ours -> TitanRL's; the constant ones are a smallest factor of 1."""


@dataclass(frozen=True)
class Choice:
    """What `auto` became: whether there is a GPU, the renderer's name, the dtype that the model is stored in."""

    gpu: bool
    renderer: str
    stored: str


def text(spec: RunSpec, job: Job, titan: Titan, choice: Choice) -> str:
    """The whole file."""
    values = {
        **_run(spec, job, titan),
        **_system(spec, titan, choice),
        **_task(spec, titan, choice),
    }
    return _TEXT.format_map(values)


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
    backend = "flex" if choice.gpu else "varlen"
    kind = "from_flavor" if titan.flavor else "from_folder"
    named = f"HF_ASSETS, {titan.flavor!r}" if titan.flavor else "HF_ASSETS"
    precise = dtype(spec, choice.gpu)
    return {
        "spec_function": kind,
        "spec_call": f"{kind}({named}, attn_backend={backend!r})",
        "compile": choice.gpu,
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
        "backend": "" if choice.gpu else '\n                spmd_backend="partial_dtensor",',
        "loss_name": _loss(spec, titan)[0],
        "loss": _loss(spec, titan)[1],
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


def _decays(spec: RunSpec) -> bool:
    return spec.training.lr_scheduler in _DECAY


def _loss(spec: RunSpec, titan: Titan) -> tuple[str, str]:
    if spec.rl.loss_type == "grpo":
        return "GRPOLoss", "GRPOLoss.Config(clip_eps=0.2)"
    return "DAPOLoss", f"DAPOLoss.Config(ratio_clip_low=0.2, ratio_clip_high={titan.clip_high})"


def _task(spec: RunSpec, titan: Titan, choice: Choice) -> dict[str, object]:
    options = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in spec.task.options.items()
    }
    return {
        "task": repr(spec.task.name),
        "options": repr(options),
        "truncation": titan.truncation_reward,
        "renderer": repr(choice.renderer),
        "thinking": titan.thinking,
    }


_TEXT = '''\
"""GRPO with TitanRL 0.3.0. `system` and `task` are independent: another task is another `with_task`.

Read and keep it; TitanRL imports it as module `titan`, config `rl`.
"""

from dataclasses import replace

from torchtitan.components.checkpoint import CheckpointManager
from torchtitan.components.loss import ChunkedLossWrapper
from torchtitan.components.optimizer import LRSchedulersContainer, default_adamw
from torchtitan.config import CompileConfig, DebugConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.experiments.rl.actors.generator import SamplingConfig, VLLMCudagraphConfig, VLLMGenerator
from torchtitan.experiments.rl.actors.trainer import PolicyTrainer
from torchtitan.experiments.rl.components.batcher import BatchConfig, Batcher
from torchtitan.experiments.rl.components.training_sample_builder import TrainingSampleBuilder
from torchtitan.experiments.rl.controller import AsyncLoopConfig, Controller, ValidationConfig
from torchtitan.experiments.rl.environment import TokenEnv
from torchtitan.experiments.rl.losses import {loss_name}
from torchtitan.experiments.rl.models.vllm_registry import InferenceParallelismConfig
from torchtitan.experiments.rl.renderer import RendererConfig
from torchtitan.experiments.rl.rollout.rollouter import Rollouter

from backends.titanrl.bridge import TaskEnv, TaskSamples, rubric, turns
from backends.titanrl.worker_metrics import EventMetrics
from backends.titanrl.worker_spec import {spec_function}

HF_ASSETS = {model}
STALL_MINUTES = {stall}  # without a finished step for so long, the worker ends the run
CONTEXT = {context}  # tokens of a whole episode, prompts and responses together


def task() -> Rollouter.Config:
    """Samples, environment and rewards."""
    name, options = {task}, {options}
    return Rollouter.Config(
        train_dataset=TaskSamples.Config(name=name, options=options, split="train", seed={seed}),
        validation_dataset=TaskSamples.Config(name=name, options=options, split="validation", seed={seed}),
        message_env=TaskEnv.Config(name=name, options=options),
        token_env=TokenEnv.Config(max_num_turns=turns(name, options)),
        rubric=rubric(name, options, truncation_reward={truncation}),
    )


def system() -> Controller.Config:
    """Model, parallelism, trainer, loss, generator. Its task is set by `with_task`."""
    return Controller.Config(
        model_spec={spec_call},
        hf_assets_path=HF_ASSETS,
        dump_folder={folder},
        async_loop=AsyncLoopConfig(
            num_training_steps={steps},
            num_prompts_per_train_step={prompts},
            num_samples_per_prompt={group},
            target_offpolicy_steps={offpolicy},
            training_sample_builder=TrainingSampleBuilder.Config(drop_zero_std_reward_groups={drop}),
            validation=ValidationConfig(num_samples={validation}),
            batcher=Batcher.Config(batch=BatchConfig(local_batch_size=1, seq_len=CONTEXT)),
        ),
        compile=CompileConfig(enable={compile}, backend="aot_eager"),
        rollouter=task(),
        renderer=RendererConfig(name={renderer}, enable_thinking={thinking}),
        metrics=EventMetrics.Config(enable_tensorboard={tensorboard}, enable_wandb={wandb}, wandb_project={project}),
        trainer=PolicyTrainer.Config(
            optimizer=default_adamw(lr={rate}, betas={betas}, weight_decay={decay}),
            lr_scheduler=LRSchedulersContainer.Config(
                warmup_steps={warmup}, decay_type={decay_type}, min_lr_factor={min_factor}, total_steps={steps}
            ),
            training=TrainingConfig(max_norm={norm}, mixed_precision_param={precise}),
            parallelism=ParallelismConfig(
                data_parallel_replicate_degree={replicate},
                data_parallel_shard_degree={shard},
                tensor_parallel_degree={tensor},
                expert_parallel_degree={expert},{backend}
            ),
            ac_config=FullAC.Config(),
            debug=DebugConfig(seed={seed}),
            checkpoint=CheckpointManager.Config(
                enable=True,  # without it TitanRL trains from random weights
                initial_load_in_hf=True,
                interval={interval},
                keep_latest_k={keep},
                last_save_model_only=True,
                last_save_in_hf=True,
                export_dtype={stored},
            ),
            loss=ChunkedLossWrapper.Config(
                loss_fn={loss}
            ),
        ),
        num_generators={engines},
        generator=VLLMGenerator.Config(
            model_dtype={generator_dtype},
            parallelism=InferenceParallelismConfig(
                data_parallel_degree={generator_data},
                tensor_parallel_degree={generator_tensor},
                expert_parallel_degree={generator_expert},{backend}
            ),
            gpu_memory_limit={memory},
            cudagraph=VLLMCudagraphConfig(enable={compile}),
            checkpoint=CheckpointManager.Config(enable=False),
            sampling=SamplingConfig(temperature={temperature}, top_p=1.0, max_tokens={tokens}),
        ),
    )


def with_task(config: Controller.Config, rollouter: Rollouter.Config) -> Controller.Config:
    """The task on a system, its token budget set to what the trainer takes, so that no episode is cut in training."""
    rollouter.token_env = replace(rollouter.token_env, max_rollout_tokens=CONTEXT)
    config.rollouter = rollouter
    return config


def rl() -> Controller.Config:
    """The run."""
    return with_task(system(), task())
'''
