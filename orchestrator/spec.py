"""RunSpec: one stage with every value filled in, frozen. A recipe has the same shape with everything optional.

Imports nothing of ours, so that every other module may import it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Stage = Literal["sft", "dpo", "grpo", "merge", "eval", "verify"]
Method = Literal["lora", "qlora", "full"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Precision = Literal["auto", "fp32", "bf16", "fp16"]
Attention = Literal["auto", "eager", "sdpa", "flash_attention_2", "flash_attention_3"]
Sharding = Literal["none", "ddp", "fsdp2"]
Scheduler = Literal["linear", "cosine", "constant", "constant_with_warmup", "polynomial", "cosine_with_min_lr"]
WandbMode = Literal["off", "offline", "online"]

TRAINING_STAGES: tuple[Stage, ...] = ("sft", "dpo", "grpo")
JUDGING_STAGES: tuple[Stage, ...] = ("eval", "verify")
"""They look at models and leave a report."""


class Part(BaseModel):
    """A frozen piece of a spec; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)


class Setting(Part):
    """A piece of the vocabulary. Strict: `true` is no number, and neither is `"3"`."""

    model_config = ConfigDict(strict=True)


class ModelSpec(Setting):
    """The model a stage starts from. Absent when `from` names a run: then the run's own model is used."""

    path: str | None = Field(
        None, min_length=1, description="Folder with safetensors, or a hub name. `./` is relative to the recipe."
    )
    revision: str | None = Field(None, description="Hub commit or tag; pin it for runs that must be repeatable.")
    dtype: Dtype = Field("auto", description="Dtype of the loaded weights; auto keeps the stored one.")
    attention: Attention = Field("auto", description="Attention kernel; auto takes the best that the hardware has.")
    trust_remote_code: bool = Field(
        False, description="Run Python code that ships with the model. Off unless you say so."
    )


class DataSpec(Setting):
    """JSONL files. The form of the rows follows from the stage."""

    train: str | None = Field(
        None, min_length=1, description="Training rows. `./` is relative to the recipe, else to the folder you are in."
    )
    eval: str | None = Field(
        None, min_length=1, description="Held-out rows: validation loss in training, items in eval."
    )
    max_rows: int | None = Field(None, gt=0, description="Use only the first N training rows.")


class LoraSpec(Setting):
    """Low-rank adapters; used by methods lora and qlora."""

    r: int = Field(16, gt=0, description="Rank.")
    alpha: int = Field(32, gt=0, description="Scale numerator; the update is scaled by alpha / r.")
    dropout: float = Field(0.05, ge=0, lt=1, description="Dropout on the adapter's input.")
    target_modules: str | list[str] = Field(
        ["q_proj", "k_proj", "v_proj", "o_proj"], description="Module names, `all-linear`, or a regular expression."
    )
    modules_to_save: list[str] = Field([], description="Modules trained in full beside the adapter.")
    use_rslora: bool = Field(False, description="Scale by alpha / sqrt(r).")


class TrainingSpec(Setting):
    """Optimisation, shared by sft, dpo and grpo."""

    learning_rate: float = Field(gt=0, description="Peak learning rate.")
    epochs: float = Field(gt=0, description="Passes over the data; max_steps wins when set.")
    max_steps: int | None = Field(None, gt=0, description="Optimizer steps.")
    batch_size: int = Field(gt=0, description="Rows per process and micro step (GRPO: completions).")
    gradient_accumulation: int = Field(gt=0, description="Micro steps per optimizer step.")
    max_length: int = Field(1024, gt=0, description="Tokens per row, prompt and answer together.")
    lr_scheduler: Scheduler = Field("linear", description="Shape of the learning rate over the run.")
    warmup_steps: int = Field(0, ge=0, description="Steps of linear warm-up.")
    weight_decay: float = Field(0.0, ge=0, description="Decoupled weight decay.")
    adam_beta1: float = Field(0.9, ge=0, lt=1, description="Adam's first-moment decay.")
    adam_beta2: float = Field(0.999, ge=0, lt=1, description="Adam's second-moment decay.")
    max_grad_norm: float = Field(1.0, gt=0, description="Gradient clipping norm.")
    optimizer: str = Field("adamw_torch", description="Optimizer by its transformers name.")
    precision: Precision = Field(
        "auto", description="Compute precision; auto is bf16 where the hardware has it, else fp32."
    )
    gradient_checkpointing: bool | Literal["auto"] = Field(
        "auto", description="Recompute activations; auto: on with a GPU."
    )
    packing: bool = Field(False, description="Pack several rows into one sequence (sft).")
    loss_on: Literal["assistant", "all"] = Field("assistant", description="Which tokens get loss (sft).")
    seed: int = Field(42, ge=0, lt=2**32, description="Seed of everything that is random.")
    logging_steps: int = Field(1, gt=0, description="Steps between metric lines.")
    save_steps: int | None = Field(None, gt=0, description="Steps between checkpoints; unset: ten a run.")
    save_total_limit: int = Field(2, gt=0, description="Checkpoints kept.")
    eval_steps: int | None = Field(None, gt=0, description="Steps between validations; needs data.eval.")


class RlSpec(Setting):
    """What dpo and grpo add."""

    beta: float = Field(
        ge=0, description="Strength of the KL penalty against the reference, which is the starting model."
    )
    reward: list[str] = Field([], description="Reward functions as file.py:function or module:function (grpo).")
    held_out: str | None = Field(
        None, min_length=1, description="Items that the reward never sees, answered at every checkpoint (grpo)."
    )
    held_out_metric: str = Field("exact", description="What their answers are judged by, as eval.metric (grpo).")
    held_out_items: int = Field(64, gt=0, description="How many of them: the first ones (grpo).")
    num_generations: int = Field(8, gt=1, description="Completions per prompt, the group (grpo).")
    max_completion_length: int = Field(256, gt=0, description="Tokens generated per completion (grpo).")
    temperature: float = Field(1.0, gt=0, description="Sampling temperature (grpo).")
    loss_type: str = Field(description="Loss variant by its TRL name, e.g. sigmoid (dpo), dapo (grpo).")
    generation: Literal["auto", "transformers", "vllm"] = Field("auto", description="Generation engine (grpo).")


class TaskSpec(Setting):
    """What RL optimises, instead of prompts and reward functions: samples, an environment, rewards (grpo, eval)."""

    name: str | None = Field(
        None, min_length=1, description="A task that comes along, or `file.py[:FUNCTION]`; see `post-train tasks`."
    )
    options: dict[str, str | int | float | bool] = Field({}, description="Options of the task, by name.")

    @property
    def texts(self) -> dict[str, str]:
        """The options as the texts that a command line would give."""
        given = self.options.items()
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given}


class MergeSpec(Setting):
    """Adapter into base."""

    dtype: Dtype = Field("auto", description="Dtype of the merged weights; auto keeps the base model's.")


class EvalSpec(Setting):
    """Held-out comparison of the models of one chain."""

    metric: str = Field(
        "exact", description="exact, contains, choice, regex, regex:PATTERN, math, reward:file.py:function, or task."
    )
    benchmarks: list[str] = Field(
        [], description="Benchmarks run by lm-eval instead: names of its tasks, or task files (.yaml)."
    )
    against: list[str] = Field(
        [], description="Models to compare with: labels of the chain, or runs. Empty: all, each with the one before."
    )
    gates: list[str] = Field([], description="What must hold, e.g. accuracy>=sft-0.01; else the exit code is 10.")
    max_leaked: float = Field(
        0.01, ge=0, le=1, description="Share of the items that may stand in the chain's training data."
    )
    temperature: float = Field(0.0, ge=0, description="0 takes the likeliest token; above, answers are sampled.")
    top_p: float = Field(1.0, gt=0, le=1, description="Sample from the likeliest tokens that hold this probability.")
    seed: int = Field(0, ge=0, lt=2**32, description="Seed of sampling; each item draws from its own stream.")
    generation: Literal["auto", "transformers", "vllm"] = Field(
        "auto", description="Generation engine; auto takes vLLM on a GPU where the environment has it."
    )
    max_new_tokens: int = Field(256, gt=0, description="Longest answer, tokens; a task has limits of its own.")
    batch_size: int = Field(32, gt=0, description="Prompts generated together; no answer depends on it.")
    max_items: int | None = Field(
        None, gt=0, description="Evaluate only the first N items; of a task, N that the seed draws."
    )


class HardwareSpec(Setting):
    """Processes and how the model is spread over them."""

    processes: int = Field(1, gt=0, description="Ranks on this machine: GPUs, or gloo ranks on a CPU.")
    sharding: Sharding = Field("none", description="none for one process, ddp or fsdp2 for several.")
    threads: int | None = Field(None, gt=0, description="CPU threads per rank; unset: cores divided by ranks.")


class TrackingSpec(Setting):
    """Experiment trackers, by name. Credentials come from the tracker's own login, never from here."""

    wandb: WandbMode = Field("off", description="Weights & Biases.")
    tensorboard: bool = Field(False, description="TensorBoard event files in the run folder.")
    trackio: bool = Field(False, description="Trackio.")
    project: str = Field("post-train", description="Project name at the tracker.")


class RunSpec(Setting):
    """One stage, complete."""

    name: str = Field(
        max_length=100,
        description="Name of the run; its id adds the stage and a suffix.",
        pattern=r"^[A-Za-z0-9][\w.-]*$",
    )
    stage: Stage = Field(description="What is done.")
    backend: str = Field(description="Engine that does it.")
    method: Method = Field("lora", description="Which weights are trained.")
    parents: list[str] = Field([], alias="from", description="Runs or earlier stages this one starts from.")
    model: ModelSpec = ModelSpec()
    data: DataSpec = DataSpec()
    lora: LoraSpec = LoraSpec()
    training: TrainingSpec
    rl: RlSpec
    task: TaskSpec = TaskSpec()
    merge: MergeSpec = MergeSpec()
    eval: EvalSpec = EvalSpec()
    hardware: HardwareSpec = HardwareSpec()
    tracking: TrackingSpec = TrackingSpec()
    proof: bool = Field(
        True, description="Measure the model where it is made and where it is taken up, and compare. Off is recorded."
    )
    native: dict[str, Any] = Field(
        {}, description="The engine's own keys, passed through after a check against its schema."
    )
    accept: list[str] = Field([], description="Codes of advice findings that this recipe accepts on purpose.")

    model_config = ConfigDict(populate_by_name=True)

    @property
    def trains(self) -> bool:
        """Whether the stage changes weights by training."""
        return self.stage in TRAINING_STAGES
