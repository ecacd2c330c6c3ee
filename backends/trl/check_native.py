"""The recipe's `native:` keys: known, of the right type, and not a second truth beside our own settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.trl import schema
from backends.trl.config import CONFIGS, native
from backends.trl.native import SECTIONS, document
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec

_CONSTRUCTORS = {"peft": "LoraConfig", "quantization": "BitsAndBytesConfig"}
_OURS = {
    "config": {
        "num_train_epochs": "training.epochs",
        "max_steps": "training.max_steps",
        "per_device_train_batch_size": "training.batch_size",
        "gradient_accumulation_steps": "training.gradient_accumulation",
        "learning_rate": "training.learning_rate",
        "lr_scheduler_type": "training.lr_scheduler",
        "warmup_steps": "training.warmup_steps",
        "weight_decay": "training.weight_decay",
        "adam_beta1": "training.adam_beta1",
        "adam_beta2": "training.adam_beta2",
        "max_grad_norm": "training.max_grad_norm",
        "optim": "training.optimizer",
        "bf16": "training.precision",
        "fp16": "training.precision",
        "gradient_checkpointing": "training.gradient_checkpointing",
        "activation_checkpointing": "training.gradient_checkpointing",
        "logging_steps": "training.logging_steps",
        "save_steps": "training.save_steps",
        "save_total_limit": "training.save_total_limit",
        "eval_steps": "training.eval_steps",
        "seed": "training.seed",
        "max_length": "training.max_length",
        "packing": "training.packing",
        "assistant_only_loss": "training.loss_on",
        "completion_only_loss": "training.loss_on",
        "report_to": "tracking",
        "project": "tracking.project",
        "run_name": "name",
        "trust_remote_code": "model.trust_remote_code",
        "use_cpu": "hardware",
        "fsdp": "hardware.sharding",
        "deepspeed": "hardware.sharding",
        "beta": "rl.beta",
        "num_generations": "rl.num_generations",
        "max_completion_length": "rl.max_completion_length",
        "temperature": "rl.temperature",
        "use_vllm": "rl.generation",
    },
    "peft": {
        "r": "lora.r",
        "lora_alpha": "lora.alpha",
        "lora_dropout": "lora.dropout",
        "target_modules": "lora.target_modules",
        "modules_to_save": "lora.modules_to_save",
        "use_rslora": "lora.use_rslora",
    },
    "quantization": {"load_in_4bit": "method", "load_in_8bit": "method"},
    "model": {
        "path": "model.path",
        "revision": "model.revision",
        "dtype": "model.dtype",
        "attn_implementation": "model.attention",
        "trust_remote_code": "model.trust_remote_code",
    },
}
_KEPT = {
    "output_dir": "the run folder decides it",
    "resume_from_checkpoint": "resuming is the runner's: post-train run --resume RUN",
    "enable_jit_checkpoint": "a stop request already saves a checkpoint",
    "save_only_model": "a checkpoint without optimizer state can't be resumed",
    "ignore_data_skip": "a resumed run would see other rows",
    "dataset_text_field": "rows are `messages`, `prompt`+`completion` or `text`",
    "dataset_kwargs": "the worker prepares the data",
    "hub_token": "a secret has no place in a recipe; log in with the hub's own command",
    "generation_batch_size": "set native.config.steps_per_generation",
    "model_init_kwargs": "set native.model",
    "auto_find_batch_size": "it changes the batch behind the plan's back",
}
_MODEL = ("experts_implementation", "local_files_only", "subfolder", "use_kernels", "variant", *_OURS["model"])


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Unknown, mistyped, reserved and contradicting keys."""
    return [*_shape(spec), *_unknown(spec), *_reserved(spec), *_contradictions(spec, job)]


def keys() -> dict[str, tuple[str, ...]]:
    """Setting -> where the argument file has it."""
    found = {
        "data.train": ["data.train"],
        "data.eval": ["data.eval"],
        "data.max_rows": ["data.max_rows"],
        "training.loss_on": ["data.loss_on"],
        "rl.reward": ["rewards"],
    }
    for section, names in _OURS.items():
        for key, setting in names.items():
            found.setdefault(setting, []).append(f"{section}.{key}")
    return {setting: tuple(places) for setting, places in found.items()}


def usable(spec: RunSpec) -> RunSpec:
    """The spec without native keys that no constructor would take, so that the other checks can look at the rest."""
    kept = {s: dict(native(spec, s)) for s in SECTIONS if native(spec, s)}
    for section, key, _, _ in _problems(spec):
        kept[section].pop(key)
    return spec.model_copy(update={"native": kept})


def _shape(spec: RunSpec) -> Iterator[Finding]:
    unused = {"peft": spec.method == "full", "quantization": spec.method != "qlora"}
    for section, value in spec.native.items():
        where = f"native.{section}"
        if section not in SECTIONS:
            yield _error("section", where, f"native has no section `{section}`{nearest(section, SECTIONS)}")
        elif not isinstance(value, dict):
            yield _error("section", where, f"{where} is a mapping of keyword arguments, not {value!r}")
        elif unused.get(section):
            yield _error("unused", where, f"{where} has no effect with method {spec.method}", fix=f"remove {where}")


def _unknown(spec: RunSpec) -> Iterator[Finding]:
    for section, key, code, problem in _problems(spec):
        where = f"native.{section}.{key}"
        yield _error(code, where, problem, fix=f"correct or remove {where}")


def _problems(spec: RunSpec) -> Iterator[tuple[str, str, str, str]]:
    """Section, key, code and what is wrong, for every key that its constructor wouldn't take."""
    for section, constructor in {"config": CONFIGS[spec.stage], **_CONSTRUCTORS}.items():
        for key, problem in schema.problems(constructor, native(spec, section)):
            yield section, key, "type" if key in schema.fields(constructor) else "key", problem
    for key in native(spec, "model"):
        if key not in _MODEL:
            yield "model", key, "key", f"from_pretrained is given no `{key}` here{nearest(key, _MODEL)}"


def _reserved(spec: RunSpec) -> Iterator[Finding]:
    given = native(spec, "config")
    for key, reason in _KEPT.items():
        if key in given:
            where = f"native.config.{key}"
            yield _error("reserved", where, f"{where} can't be set: {reason}", fix=f"remove {where}")
    template = str(given.get("chat_template_path", "x.jinja"))
    if not template.endswith((".jinja", ".j2")):
        message = (
            "native.config.chat_template_path takes a .jinja file; a template from another tokenizer would add tokens"
        )
        yield _error("reserved", "native.config.chat_template_path", message)


def _contradictions(spec: RunSpec, job: Job) -> Iterator[Finding]:
    """A value that our own vocabulary also decides: plan, memory estimate and advice would be about another run."""
    written = document(spec.model_copy(update={"native": {}}), job)
    for section in (name for name in _OURS if name in written):
        names, ours = _OURS[section], written[section]
        for key, value in native(spec, section).items():
            if key in names and not _free(spec, section, key) and ours.get(key) != value:
                yield _second_truth(section, key, value, names[key], ours.get(key))


def _free(spec: RunSpec, section: str, key: str) -> bool:
    """Keys of ours that a recipe left open."""
    unset = {"save_steps": spec.training.save_steps, "eval_steps": spec.training.eval_steps}
    return section == "config" and key in unset and unset[key] is None


def _second_truth(section: str, key: str, value: Any, name: str, ours: Any) -> Finding:
    where = f"native.{section}.{key}"
    return _error(
        "contradiction",
        where,
        f"{where} is {value!r}, but {name} already decides it ({ours!r}); the plan would describe another run",
        fix=f"remove {where} and set {name}",
    )


def _error(code: str, where: str, message: str, fix: str | None = None) -> Finding:
    return Finding(code=f"trl.native.{code}", level="error", message=message, where=where, fix=fix)
