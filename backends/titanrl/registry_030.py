"""The text of `config_registry.py` for TitanRL 0.3.0, `torchtitan.experiments.rl`.

The system (model, parallelism, loss, trainer, generator) and the task are two functions, joined by `with_task`.
"""

from __future__ import annotations

from backends.titanrl import values
from backends.titanrl.settings import Titan
from backends.titanrl.values import Choice
from orchestrator.backend import Job
from orchestrator.spec import RunSpec

MODELS = frozenset({"qwen3", "muse_glimmer"})


def text(spec: RunSpec, job: Job, titan: Titan, choice: Choice) -> str:
    """The whole file."""
    words = values.of(spec, job, titan, choice)
    glimmer = choice.renderer == values.GLIMMER
    parts = _GLIMMER if glimmer else _NAMED
    return _TEXT.format_map(words | {key: part.format_map(words) for key, part in parts.items()})


_NAMED = {
    "renderer_import": "from torchtitan.experiments.rl.renderer import RendererConfig\n",
    "renderer_call": "RendererConfig(name={renderer}, enable_thinking={thinking})",
    "own_import": "",
}
_GLIMMER = {
    "renderer_import": "",
    "renderer_call": "MuseGlimmerRendererConfig({glimmer})",
    "own_import": "\nfrom backends.titanrl.worker_renderer import MuseGlimmerRendererConfig",
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
{renderer_import}from torchtitan.experiments.rl.rollout.advantage import AdvantageEstimator
from torchtitan.experiments.rl.rollout.rollouter import Rollouter

from backends.titanrl.bridge import TaskEnv, TaskSamples, rubric, turns
from backends.titanrl.worker_metrics import EventMetrics{own_import}
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
        token_env=TokenEnv.Config(max_num_turns=turns(name, options), step_timeout_s={timeout}),
        rubric=rubric(name, options, truncation_reward={truncation}),
        advantage=AdvantageEstimator.Config(should_std_normalize={normalize}),
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
        renderer={renderer_call},
        metrics=EventMetrics.Config(enable_tensorboard={tensorboard}, enable_wandb={wandb}, wandb_project={project}),
        trainer=PolicyTrainer.Config(
            optimizer={optimizer},
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
            ac_config={checkpointing},
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
