"""Settings that can't work together, or with this backend."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from orchestrator import credential
from orchestrator.backend import Backend, Learned
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec, TaskSpec

_FILE = "name a JSONL file: {0} in the recipe, or --set {0}=FILE"
"""What every command takes; only stage commands have --data."""


def check(spec: RunSpec, backend: Backend, learned: Sequence[Learned] = ()) -> list[Finding]:
    """Errors of stage, method, sharding, data and parents, whatever the engine.

    Args:
        learned: what the chain of an eval was trained on.
    """
    return [
        *_supported(spec, backend),
        *_sharding(spec, backend),
        *_inputs(spec, backend),
        *_held_out(spec, learned),
        *_secrets(spec.native, "native"),
    ]


def _error(code: str, message: str, fix: str, where: str) -> Finding:
    return Finding(code=code, level="error", message=message, fix=fix, where=where)


def _supported(spec: RunSpec, backend: Backend) -> list[Finding]:
    methods = backend.capabilities().methods
    if spec.stage not in methods:
        can = ", ".join(sorted(methods))
        message = f"backend {backend.name} has no stage {spec.stage}; it does {can}"
        return [_error("combination.stage", message, "choose another backend: post-train backends", "backend")]
    if spec.trains and spec.method not in methods[spec.stage]:
        message = f"backend {backend.name} can't do {spec.stage} with method {spec.method}"
        fix = f"choose one of {', '.join(methods[spec.stage])}"
        return [_error("combination.method", message, fix, "method")]
    return []


def _sharding(spec: RunSpec, backend: Backend) -> list[Finding]:
    hardware, able = spec.hardware, backend.capabilities().sharding
    found = []
    if hardware.sharding not in able:
        message = f"backend {backend.name} can't shard with {hardware.sharding}{nearest(hardware.sharding, able)}"
        found.append(_error("combination.sharding", message, f"choose one of {', '.join(able)}", "hardware.sharding"))
    if hardware.processes == 1 and hardware.sharding != "none":
        message = f"sharding {hardware.sharding} needs more than one process"
        found.append(_error("combination.processes", message, "set hardware.processes, or sharding none", "hardware"))
    if hardware.processes > 1 and hardware.sharding == "none":
        message = f"{hardware.processes} processes, but sharding is none: each would train a model of its own"
        found.append(_error("combination.processes", message, "set hardware.sharding to ddp or fsdp2", "hardware"))
    return found


def _held_out(spec: RunSpec, learned: Sequence[Learned]) -> list[Finding]:
    """An eval without anything to ask."""
    if spec.stage != "eval" or spec.data.eval or spec.task.name or spec.eval.benchmarks:
        return []
    fix = f"{_FILE.format('data.eval')}; or play a task: --task NAME|FILE.py"
    for one in learned:
        if one.task:
            fix = f"{one.run} was trained on a task, whose validation samples are played with: {_words(one.task)}"
    return [_error("data.missing", "eval has no held-out items", fix, "data.eval")]


def _words(task: TaskSpec) -> str:
    """A task as flags."""
    options = [f"--task-option {shlex.quote(f'{name}={text}')}" for name, text in task.texts.items()]
    return " ".join([f"--task {shlex.quote(task.name or '')}", *options])


def _secrets(native: dict[str, Any], at: str) -> list[Finding]:
    """A credential in a recipe would be written into the manifest, the plan and the native files."""
    found = []
    for key, value in native.items():
        if isinstance(value, dict):
            found += _secrets(value, f"{at}.{key}")
        elif isinstance(value, str) and value and credential.named(key):
            message = "a credential would be written into the run's files"
            found.append(
                _error("native.secret", message, "log in with the tool itself, or use its variable", f"{at}.{key}")
            )
    return found


def _inputs(spec: RunSpec, backend: Backend) -> list[Finding]:
    found = []
    if not spec.parents and not spec.model.path:
        fix = "name a model with --set model.path=FOLDER, or in the recipe; or a run, with `from`"
        found.append(_error("model.missing", f"stage {spec.stage} has nothing to start from", fix, "model.path"))
    if spec.parents and spec.model.path:
        message = f"both a run ({', '.join(spec.parents)}) and a model ({spec.model.path}) to start from"
        found.append(_error("model.ambiguous", message, "keep one of model.path and from", "model.path"))
    named_natively = any(spec.native.get(key) for key in backend.capabilities().rows_keys)
    if spec.trains and not spec.data.train and not named_natively and not spec.task.name:
        found.append(
            _error("data.missing", f"stage {spec.stage} has no data", _FILE.format("data.train"), "data.train")
        )
    if spec.training.eval_steps and not spec.data.eval and not spec.task.name:
        message = "training.eval_steps without held-out rows"
        found.append(
            _error("data.missing", message, "set data.eval, or drop training.eval_steps", "training.eval_steps")
        )
    return found
