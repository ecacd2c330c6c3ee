"""What is wrong with a merge or an eval, seen before anything starts and without a framework."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.hf import benchmarks, folders, generation, native
from backends.trainer import items, metrics
from orchestrator import gate
from orchestrator.backend import Job, ModelRef
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec

REWARD = "reward:"


def check(spec: RunSpec, job: Job) -> list[Finding]:
    """Every problem at once."""
    if spec.stage not in native.KEYS:
        return [
            _error(
                "hf.stage",
                f"the hf backend merges and evaluates; it can't do {spec.stage}",
                "set backend: trl",
                "backend",
            )
        ]
    own = _verify(job) if spec.stage == "verify" else (_merge if spec.stage == "merge" else _eval)(spec, job)
    return [*_hardware(spec), *_native(spec), *own]


def _hardware(spec: RunSpec) -> Iterator[Finding]:
    if spec.hardware.processes != 1:
        message = (
            f"{spec.stage} runs in one process; each of {spec.hardware.processes} would do, and write, the whole result"
        )
        yield _error("hf.processes", message, "remove hardware.processes", "hardware.processes")
    elif spec.hardware.sharding != "none":
        yield _error(
            "hf.sharding", f"{spec.stage} does not shard a model", "remove hardware.sharding", "hardware.sharding"
        )


def _native(spec: RunSpec) -> Iterator[Finding]:
    known = native.KEYS[spec.stage]
    for key in spec.native:
        if key not in known:
            yield _error(
                "hf.native", f"unknown key native.{key}{nearest(key, known)}", f"remove native.{key}", f"native.{key}"
            )
    size = spec.native.get("max_shard_bytes", native.MAX_SHARD_BYTES)
    if isinstance(size, bool) or not isinstance(size, int) or size <= 0:
        yield _error(
            "hf.native",
            f"native.max_shard_bytes is a number of bytes, not {size!r}",
            "write a whole number",
            "native.max_shard_bytes",
        )
    if not isinstance(spec.native.get("chat_template_kwargs", {}), dict):
        yield _error(
            "hf.native",
            "native.chat_template_kwargs is a mapping",
            "write name: value pairs",
            "native.chat_template_kwargs",
        )


def _merge(spec: RunSpec, job: Job) -> Iterator[Finding]:
    if job.model.adapter is None:
        message = f"{job.model.label} has no adapter, so there is nothing to merge"
        yield _error("merge.no_adapter", message, "start from a lora or qlora run: post-train merge RUN", "from")
    if spec.model.dtype != "auto":
        message = "model.dtype has no effect in a merge: sums are made in float32 and stored as merge.dtype says"
        yield _error("merge.model_dtype", message, f"write merge.dtype: {spec.model.dtype}", "model.dtype")
    yield from _model(job.model)


def _eval(spec: RunSpec, job: Job) -> Iterator[Finding]:
    refs = job.compare or (job.model,)
    yield from _metric(spec)
    yield from _items(spec)
    yield from _gates(spec, [ref.label for ref in refs])
    yield from generation.findings(spec, job)
    yield from benchmarks.findings(spec, job)
    for label in sorted({r.label for r in refs if sum(r.label == other.label for other in refs) > 1}):
        yield _error(
            "eval.labels",
            f"two models are called {label!r}, so the report could not tell them apart",
            "name each run once",
            "from",
        )
    for ref in refs:
        yield from _model(ref)


def _verify(job: Job) -> Iterator[Finding]:
    if not job.model.probe:
        message = "there is nothing to hold the model against: only a run records what its model answered"
        yield _error("verify.no_run", message, "name the run that made it: post-train verify RUN", "from")
    yield from _model(job.model)


def _metric(spec: RunSpec) -> Iterator[Finding]:
    metric = spec.eval.metric
    if metric == native.TASK:
        return  # named or not, the core looks at tasks
    if not metric.startswith(REWARD):
        if metrics.rule(metric) is None:
            hint = nearest(
                metric, [*metrics.NAMES, native.TASK, f"{metrics.REGEX}PATTERN", f"{REWARD}file.py:function"]
            )
            yield _error("eval.metric", f"unknown metric {metric!r}{hint}", "set eval.metric: exact", "eval.metric")
        return
    source, _, function = metric.removeprefix(REWARD).rpartition(":")
    if not source or not function.isidentifier():
        yield _error("eval.metric", f"{metric!r} names no function", "write reward:file.py:function", "eval.metric")
    elif source.endswith(".py") and not Path(source).is_file():
        yield _error("eval.metric", f"no such file: {source}", "name the file with the reward function", "eval.metric")


def _gates(spec: RunSpec, labels: list[str]) -> Iterator[Finding]:
    for text in spec.eval.gates:
        try:
            missing = gate.unknown(gate.parse(text, labels), labels)
        except gate.GateError as error:
            yield _error("eval.gate", str(error), "write it like accuracy>=sft-0.01", "eval.gates")
            continue
        if missing:
            message = f"gate {text!r} names {', '.join(missing)}, and the models compared are {', '.join(labels)}"
            yield _error("eval.gate", message, "name accuracy or one of those models", "eval.gates")


def _items(spec: RunSpec) -> Iterator[Finding]:
    if spec.data.eval is None or spec.task.name or not Path(spec.data.eval).is_file():
        return  # said already: every stage's files are looked at before an engine is asked
    metric = spec.eval.metric
    try:
        found = items.read(Path(spec.data.eval), needs_answer=not metric.startswith(REWARD), limit=spec.eval.max_items)
        wrong = ((item.place, metrics.unusable(metric, item.expected or "")) for item in found)
        place, problem = next(((place, problem) for place, problem in wrong if problem), ("", None))
        if problem:
            yield _error(
                "data.items", f"{place}: {problem}", "write such answers, or choose another metric", "data.eval"
            )
    except items.ItemsError as error:
        yield _error("data.items", error.message, error.fix, "data.eval")


def _model(ref: ModelRef) -> Iterator[Finding]:
    problems = [
        None
        if folders.is_hub_name(ref.path) or folders.awaits_parent(Path(ref.path))
        else folders.model_problem(Path(ref.path)),
        None
        if ref.adapter is None or folders.awaits_parent(Path(ref.adapter))
        else folders.adapter_problem(Path(ref.adapter)),
    ]
    for problem in problems:
        if problem:
            yield _error(problem.code, f"{ref.label}: {problem.message}", problem.fix, "model")


def _error(code: str, message: str, fix: str, where: str) -> Finding:
    return Finding(code=code, level="error", message=message, fix=fix, where=where)
