"""RunSpec and Job -> the argument file, each section the keyword arguments of one constructor. Pure."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import yaml

from backends.trl.choices import Choices, choose
from backends.trl.config import TRAINERS, Kwargs, native, trainer_config
from orchestrator.backend import Expected, Job, LaunchSpec, Native, NativeFile
from orchestrator.spec import RunSpec

WORKER = "backends.trl.worker"
SECTIONS = ("config", "model", "peft", "quantization")
"""Sections that a recipe may add to under `native:`."""

_HELD_OUT_BATCH = 32
"""Held-out prompts answered together; no answer depends on it."""

_MODULES = {"PYTHONPATH": "native/pythonpath", "PYTHONSAFEPATH": "1"}
_HEADER = """\
# {trainer} of TRL. Each section holds the keyword arguments of one constructor: `config` of {config}, `model` of
# from_pretrained (after `path`), `peft` of LoraConfig, `quantization` of BitsAndBytesConfig. Run it by hand with the
# Python of the trl environment:
#   cd {run} && {variables} {command} {file}
"""


def materialize(spec: RunSpec, job: Job) -> Native:
    """The argument file, what to start, and the artifact promised."""
    path, launch = f"native/{spec.stage}.yaml", _launch(spec, job)
    content = _header(job, launch, path) + yaml.safe_dump(document(spec, job), sort_keys=False, allow_unicode=True)
    kind = "model" if spec.method == "full" else "adapter"
    return Native(
        files=(NativeFile(path=path, content=content),),
        launch=launch,
        expected=(Expected(kind="model" if kind == "model" else "adapter", path=f"artifacts/{kind}"),),
    )


def document(spec: RunSpec, job: Job) -> Kwargs:
    """The argument file as data; the user's native keys come last and win."""
    chosen = choose(spec, job)
    sections: Kwargs = {
        "trainer": TRAINERS[spec.stage],
        "config": trainer_config(spec, job, chosen) | _reference(spec, job),
        "model": _model(job, chosen) | native(spec, "model"),
    }
    if spec.method != "full":
        sections["peft"] = _peft(spec) | native(spec, "peft")
    if spec.method == "qlora":
        sections["quantization"] = _quantization(spec, chosen) | native(spec, "quantization")
    sections["data"] = _data(spec)
    if spec.task.name:
        sections["task"] = {"name": spec.task.name, "options": spec.task.texts}
    elif spec.stage == "grpo":
        sections["rewards"] = list(spec.rl.reward)
    if spec.stage == "grpo" and spec.rl.held_out:
        sections["held_out"] = _held_out(spec)
    return sections | {"output": _output(spec, job)}


def _header(job: Job, launch: LaunchSpec, path: str) -> str:
    torchrun = f"-m torch.distributed.run --standalone --nproc-per-node {launch.processes} "
    stage = PurePath(path).stem
    return _HEADER.format(
        trainer=TRAINERS[stage],
        config=TRAINERS[stage].replace("Trainer", "Config"),
        run=job.run_dir,
        variables=" ".join(
            f"{k}={v}" for k, v in {"PYTHONPATH": "native/pythonpath", "PYTHONSAFEPATH": "1", **launch.env}.items()
        ),
        command=f"python {torchrun if launch.processes > 1 else ''}-m {launch.module}",
        file=path,
    )


def _launch(spec: RunSpec, job: Job) -> LaunchSpec:
    return LaunchSpec(
        module=WORKER,
        args=(str(job.run_dir / "native" / f"{spec.stage}.yaml"),),
        processes=spec.hardware.processes,
        env=_environment(spec, job),
    )


def _environment(spec: RunSpec, job: Job) -> dict[str, str]:
    threads = spec.hardware.threads or max(1, job.machine.cores // spec.hardware.processes)
    wandb = spec.tracking.wandb
    return {
        "OMP_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TQDM_DISABLE": "1",
        **(
            {"WANDB_MODE": wandb, "WANDB_PROJECT": spec.tracking.project, "WANDB_DIR": str(job.run_dir)}
            if wandb != "off"
            else {}
        ),
        **({"TENSORBOARD_LOGGING_DIR": str(job.run_dir / "tensorboard")} if spec.tracking.tensorboard else {}),
    }


def _model(job: Job, chosen: Choices) -> Kwargs:
    return {
        "path": job.model.path,
        **({"revision": job.model.revision} if job.model.revision else {}),
        "dtype": chosen.dtype,
        "attn_implementation": chosen.attention,
        "trust_remote_code": job.model.trust_remote_code,
    }


def _reference(spec: RunSpec, job: Job) -> Kwargs:
    """With full weights TRL loads the reference itself, by path: without the revision it would be another model."""
    loads = spec.method == "full" and (spec.stage == "dpo" or (spec.stage == "grpo" and spec.rl.beta > 0))
    return {"model_init_kwargs": {"revision": job.model.revision}} if loads and job.model.revision else {}


def _peft(spec: RunSpec) -> Kwargs:
    lora = spec.lora
    return {
        "task_type": "CAUSAL_LM",
        "r": lora.r,
        "lora_alpha": lora.alpha,
        "lora_dropout": lora.dropout,
        "target_modules": lora.target_modules,
        **({"modules_to_save": list(lora.modules_to_save)} if lora.modules_to_save else {}),
        "use_rslora": lora.use_rslora,
    }


def _quantization(spec: RunSpec, chosen: Choices) -> Kwargs:
    """NF4 with double quantisation. A floating storage dtype, the model's own, is what FSDP2 can shard."""
    compute = {"bf16": "bfloat16", "fp16": "float16"}.get(chosen.precision, "float32")
    floating = chosen.precision == "bf16" or spec.hardware.sharding == "fsdp2"
    return {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": "nf4",
        "bnb_4bit_use_double_quant": True,
        "bnb_4bit_compute_dtype": compute,
        **({"bnb_4bit_quant_storage": compute} if floating else {}),
    }


def _data(spec: RunSpec) -> Kwargs:
    """What the trainer's constructors don't know: files, and how rows become tokens."""
    training = spec.training
    data: dict[str, Any] = {"train": spec.data.train, "eval": spec.data.eval, "max_rows": spec.data.max_rows}
    if spec.stage == "sft":
        data["loss_on"] = training.loss_on
    if spec.task.name:
        data["context"] = training.max_length
    elif spec.stage == "grpo":
        data["max_prompt_length"] = training.max_length - spec.rl.max_completion_length
    return data


def _held_out(spec: RunSpec) -> Kwargs:
    rl = spec.rl
    new = {"max_new_tokens": rl.max_completion_length, "batch_size": _HELD_OUT_BATCH}
    return {"data": rl.held_out, "metric": rl.held_out_metric, "max_items": rl.held_out_items, **new}


def _output(spec: RunSpec, job: Job) -> Kwargs:
    kind = "model" if spec.method == "full" else "adapter"
    return {"kind": kind, "folder": str(job.run_dir / "artifacts" / kind)}
