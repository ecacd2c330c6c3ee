"""The text of `config_registry.py` for TitanRL of October 2026: its loader has `--output-dir` and `--resume-step`.

Written from the public source, and never run here; tests hold its names against `tests/data/titanrl/api_2026_10.toml`.
"""

from __future__ import annotations

from backends.titanrl import values
from backends.titanrl.registry_2026_09 import renderer
from backends.titanrl.settings import Titan
from backends.titanrl.values import Choice
from orchestrator.backend import Job
from orchestrator.spec import RunSpec

MODELS = frozenset({"qwen3", "muse_glimmer", "muse_spark"})
"""Muse Spark after what its publishers say of TorchTitan's main; its module is in no source that was read."""


def text(spec: RunSpec, job: Job, titan: Titan, choice: Choice) -> str:
    """The whole file."""
    words = values.of(spec, job, titan, choice)
    return _TEXT.format_map(words | renderer(choice, words))


_TEXT = '''\
"""GRPO with TitanRL of October 2026. `system` and `task` are independent: another task is another `with_task`.

Read and keep it; TitanRL imports it as module `titan`, config `rl`.
"""

from dataclasses import replace

{library_import}from torchtitan.components.checkpointer import CheckpointManager
from torchtitan.components.loss import ChunkedLossWrapper
from torchtitan.components.optim import AdamW, LRSchedulersContainer, Optim, OptimizersContainer
{renderer_import}from torchtitan.config import DebugConfig, TrainingConfig
from torchtitan.config.parallelism import ParallelismConfig
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.common.config_utils import decoder_vocab_size
from torchtitan.models.{kind} import build_model_config
from torchtitan.rl.components.data import IterableRLDataLoader
from torchtitan.rl.components.training_sample_builder import TrainingSampleBuilder
from torchtitan.rl.controller import AsyncLoopConfig, Controller, ValidationConfig
from torchtitan.rl.distributed.parallelism import InferenceParallelismConfig
from torchtitan.rl.generator import SamplingConfig, VLLMCudaGraphConfig, VLLMGenerator
from torchtitan.rl.losses import {loss_name}
{own_import}from torchtitan.rl.rollout.advantage import AdvantageEstimator
from torchtitan.rl.rollout.environment import TokenEnv
from torchtitan.rl.rollout.rollouter import Rollouter, RolloutWorker
from torchtitan.rl.trainer import Trainer

from backends.titanrl.bridge import TaskEnv, TaskSamples, rubric, turns
from backends.titanrl.worker_metrics import EventMetrics

HF_ASSETS = {model}
STALL_MINUTES = {stall}  # without a finished step for so long, the worker ends the run
CONTEXT = {context}  # tokens of a whole episode, prompts and responses together


def task() -> Rollouter.Config:
    """Samples, environment and rewards."""
    name, options = {task}, {options}
    return Rollouter.Config(
        training_dataloader=IterableRLDataLoader.Config(
            dataset=TaskSamples.Config(name=name, options=options, split="train", seed={seed})
        ),
        validation_dataset=TaskSamples.Config(name=name, options=options, split="validation", seed={seed}),
        worker=RolloutWorker.Config(
            message_env=TaskEnv.Config(name=name, options=options),
            token_env=TokenEnv.Config(max_num_turns=turns(name, options), step_timeout_s={timeout}),
            rubric=rubric(name, options, truncation_reward={truncation}),
            advantage=AdvantageEstimator.Config(should_std_normalize={normalize}),
        ),
    )


def system() -> Controller.Config:
    """Model, parallelism, trainer, loss, generator. Its task is set by `with_task`."""
    model = build_model_config{model_call}
    return Controller.Config(
        model=model,
        hf_assets_path=HF_ASSETS,
        dump_folder={folder},
        async_loop=AsyncLoopConfig(
            num_training_steps={steps},
            num_prompts_per_train_step={prompts},
            num_samples_per_prompt={group},
            target_offpolicy_steps={offpolicy},
            training_sample_builder=TrainingSampleBuilder.Config(drop_zero_std_reward_groups={drop}),
            validation=ValidationConfig(steps={validation}),
        ),
        rollouter=task(),
        renderer={renderer_call},
        metrics=EventMetrics.Config(enable_tensorboard={tensorboard}, enable_wandb={wandb}, wandb_project={project}),
        trainer=Trainer.Config(
            optim=Optim.Config(
                optimizer=OptimizersContainer.Config(
                    optimizers=[
                        AdamW.Config(
                            pattern=r".*", lr={rate}, betas={betas}, weight_decay={decay}, moment_dtype={moments}
                        )
                    ]
                ),
                lr_scheduler=LRSchedulersContainer.Config(
                    warmup_steps={warmup}, decay_type={decay_type}, min_lr_factor={min_factor}, total_steps={steps}
                ),
            ),
            training=TrainingConfig(
                disable_cuda_graphs=True,
                num_tokens_per_microbatch_per_dp_rank=CONTEXT,
                max_context_length=CONTEXT,
                max_norm={norm},
                mixed_precision_param={precise},
            ),
            parallelism=ParallelismConfig(
                data_parallel_replicate_degree={replicate},
                data_parallel_shard_degree={shard},
                tensor_parallel_degree={tensor},
                expert_parallel_degree={expert},
            ),
            activation_checkpoint={checkpointing},
            debug=DebugConfig(seed={seed}),
            checkpointer=CheckpointManager.Config(  # without one TitanRL trains from random weights
                initial_load_in_hf=True,
                interval={interval},
                keep_latest_k={keep},
                last_save_model_only=True,
                last_save_in_hf=True,
                export_dtype={stored},
            ),
            loss=ChunkedLossWrapper.Config(
                loss_fn={loss_sized},
            ),
        ),
        num_generators={engines},
        generator=VLLMGenerator.Config(
            model_dtype={generator_dtype},
            parallelism=InferenceParallelismConfig(
                data_parallel_degree={generator_data},
                tensor_parallel_degree={generator_tensor},
                expert_parallel_degree={generator_expert},
            ),
            gpu_memory_limit={memory},
            cuda_graph=VLLMCudaGraphConfig(mode={graphs}),
            checkpointer=None,
            sampling=SamplingConfig(temperature={temperature}, top_p=1.0, max_tokens={tokens}),
        ),
    )


def with_task(config: Controller.Config, rollouter: Rollouter.Config) -> Controller.Config:
    """The task on a system, its token budget set to what the trainer takes, so that no episode is cut in training."""
    worker = rollouter.worker
    worker.token_env = replace(worker.token_env, max_rollout_tokens=CONTEXT)
    config.rollouter = rollouter
    return config


def rl() -> Controller.Config:
    """The run."""
    return with_task(system(), task())
'''
