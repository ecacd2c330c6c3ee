"""Native values of the right type that can't be meant: out of range, unreadable, or without what they need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator import modelfolder
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

_SHARES = ("warmup_ratio", "cosine_min_lr_ratio", "cosine_constant_lr_ratio")
_COUNTS = (
    *("val_set_size", "dataloader_num_workers", "dataloader_prefetch_factor", "dataset_num_proc", "eval_batch_size"),
    *("evals_per_epoch", "saves_per_epoch", "early_stopping_patience", "min_sample_len", "neftune_noise_alpha"),
)


def findings(spec: RunSpec, job: Job) -> list[Finding]:
    """Ranges, expressions, templates, layers, and numbers that only a GPU computes with."""
    given = spec.native
    return [*_ranges(given), *_expressions(given), *_template(given), *_layers(given, job), *_bits(spec, job)]


def _ranges(given: dict[str, Any]) -> Iterator[Finding]:
    for key in _SHARES:
        if isinstance(value := given.get(key), int | float) and not 0 <= value <= 1:
            yield _error(key, f"native.{key} is a share of the run, from 0 to 1, and {value} is none")
    for key in _COUNTS:
        if isinstance(value := given.get(key), int | float) and value < 0:
            yield _error(key, f"native.{key} can't be {value}: it counts from 0 up")


def _expressions(given: dict[str, Any]) -> Iterator[Finding]:
    listed = given.get("unfrozen_parameters")
    for text in listed if isinstance(listed, list) else []:
        try:
            re.compile(str(text))
        except re.error as error:
            yield _error("unfrozen_parameters", f"{text!r} is no regular expression: {error}")


def _template(given: dict[str, Any]) -> Iterator[Finding]:
    if given.get("chat_template") == "jinja" and not given.get("chat_template_jinja"):
        message = "native.chat_template: jinja says that the recipe has a template, and it has none"
        yield _error("chat_template", message, fix="native.chat_template_jinja: ./FILE.jinja")


def _layers(given: dict[str, Any], job: Job) -> Iterator[Finding]:
    asked = given.get("peft_layers_to_transform")
    config = modelfolder.config(Path(job.model.path))
    there = (config.get("text_config") or config).get("num_hidden_layers")
    if not isinstance(asked, list) or not isinstance(there, int):
        return
    beyond = [str(layer) for layer in asked if isinstance(layer, int) and not 0 <= layer < there]
    if beyond:
        yield _error("peft_layers_to_transform", f"the model has layers 0 to {there - 1}, and no {', '.join(beyond)}")


def _bits(spec: RunSpec, job: Job) -> Iterator[Finding]:
    if spec.native.get("fp8") and not job.machine.gpus:
        yield _error("fp8", "native.fp8 needs a GPU that computes in 8 bits", fix="remove native.fp8")
    if spec.method == "qlora" and spec.native.get("load_in_8bit"):
        message = "method qlora loads the base in 4 bits, and native.load_in_8bit in 8"
        yield _error("load_in_8bit", message, fix="method: lora with native.load_in_8bit, or remove it")


def _error(key: str, message: str, fix: str | None = None) -> Finding:
    return Finding(
        code="axolotl.native.value",
        level="error",
        message=message,
        where=f"native.{key}",
        fix=fix or f"correct native.{key}",
    )
