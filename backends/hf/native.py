"""RunSpec and Job -> the worker's own file, native/merge.yaml or native/eval.yaml. Pure."""

from __future__ import annotations

from typing import Any

import yaml

from backends.hf import benchmarks
from backends.hf.generation import engine
from orchestrator.backend import Job, ModelRef, NativeFile
from orchestrator.spec import RunSpec

KEYS: dict[str, tuple[str, ...]] = {
    "merge": ("max_shard_bytes",),
    "eval": ("chat_template_kwargs", *benchmarks.SETTINGS),
    "verify": (),
}
"""Stage -> keys of `native:` that the worker knows."""

TASK = "task"
"""The metric that plays a task."""
MAX_SHARD_BYTES = 5_000_000_000

_HEADER = """\
# What the {stage} stage of {name!r} does, complete: post-train's hf backend reads this file and nothing else.
# By hand, from the run folder, with the hf environment's Python:
#   PYTHONPATH=native/pythonpath PYTHONSAFEPATH=1 python -m backends.hf.worker native/{stage}.yaml
"""


def file(spec: RunSpec, job: Job) -> NativeFile:
    """The file of this stage, path relative to the run folder."""
    settings = {"merge": _merge, "eval": _eval, "verify": _verify}[spec.stage](spec, job)
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=120)
    return NativeFile(path=f"native/{spec.stage}.yaml", content=_HEADER.format(stage=spec.stage, name=spec.name) + text)


def _merge(spec: RunSpec, job: Job) -> dict[str, Any]:
    return {
        "stage": "merge",
        "model": _model(job.model),
        "dtype": spec.merge.dtype,
        "max_shard_bytes": spec.native.get("max_shard_bytes", MAX_SHARD_BYTES),
        "output": str(job.run_dir / "artifacts" / "model"),
    }


def _eval(spec: RunSpec, job: Job) -> dict[str, Any]:
    return {
        "stage": "eval",
        "models": [_model(ref) for ref in job.compare or (job.model,)],
        **_asked(spec, job),
        "against": list(job.against),
        "leaks": [leak.model_dump(mode="json") for leak in job.leaks],
        **_learned(spec, job),
        "dtype": spec.model.dtype,
        "attention": spec.model.attention,
        "chat_template_kwargs": spec.native.get("chat_template_kwargs", {}),
        "output": str(job.run_dir / "artifacts" / "report"),
    }


def _asked(spec: RunSpec, job: Job) -> dict[str, Any]:
    """The items, or the task, whose own limits say how long a message is; and how answers are made and judged."""
    if spec.eval.benchmarks:
        return _benchmarks(spec)
    settings = spec.eval.model_dump(exclude={"max_leaked", "benchmarks"}) | {"generation": engine(spec, job)}
    if not spec.task.name:
        return {"data": spec.data.eval, **settings}
    settings.pop("max_new_tokens")
    return {"task": {"name": spec.task.name, "options": spec.task.texts}, **settings}


def _benchmarks(spec: RunSpec) -> dict[str, Any]:
    """Items, lengths and judgement are lm-eval's; its examples in prompts too, unless a number of them is given."""
    return {
        "benchmarks": list(spec.eval.benchmarks),
        "metric": benchmarks.METRIC,
        "num_fewshot": spec.native.get("num_fewshot"),
        "apply_chat_template": spec.native.get("apply_chat_template", False),
        **spec.eval.model_dump(include={"gates", "batch_size", "max_items"}),
    }


def _learned(spec: RunSpec, job: Job) -> dict[str, Any]:
    """What the items are held against here, because it takes running a task."""
    if not job.learned:
        return {}
    found = [
        {"run": one.run, "rows": str(one.rows)}
        if one.task is None
        else {"run": one.run, "task": {"name": one.task.name, "options": one.task.texts}}
        for one in job.learned
    ]
    return {"learned": found, "max_leaked": spec.eval.max_leaked}


def _verify(spec: RunSpec, job: Job) -> dict[str, Any]:
    return {
        "stage": "verify",
        "model": _model(job.model),
        "dtype": spec.model.dtype,
        "attention": spec.model.attention,
        "output": str(job.run_dir / "artifacts" / "report"),
    }


def _model(ref: ModelRef) -> dict[str, Any]:
    return ref.model_dump(mode="json")
