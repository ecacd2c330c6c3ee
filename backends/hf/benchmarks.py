"""Benchmarks by lm-eval: tasks of its own by name, and task files of the user's. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backends.hf.task_files import folders, is_file
from orchestrator.backend import Job
from orchestrator.findings import Finding
from orchestrator.spec import RunSpec

METRIC = "benchmarks"
"""What a report calls the metric: every benchmark has its own."""
SETTINGS = ("apply_chat_template", "num_fewshot")
"""Native keys that go to lm-eval as they are."""
_FIX = "--env with the Python of `post-train backends path axolotl`, whose lock has it"


def findings(spec: RunSpec, job: Job) -> Iterator[Finding]:
    """What is wrong with the benchmarks that were asked for."""
    if not spec.eval.benchmarks:
        for key in SETTINGS:
            if key in spec.native:
                yield _error(f"native.{key} is a setting of lm-eval, and no benchmark is named", "name one", key)
        return
    if not job.has("lm-eval"):
        yield _error("lm-eval is not in the hf environment", f"post-train backends install axolotl, then {_FIX}")
    for setting in _given(spec):
        yield _error(f"{setting} has no effect on benchmarks, which have items and settings of their own", "remove it")
    yield from _files(spec)
    yield from _native(spec.native)


def _given(spec: RunSpec) -> Iterator[str]:
    usual, given = type(spec.eval)(), spec.eval
    names = ("metric", "temperature", "top_p", "seed", "generation", "max_new_tokens")
    yield from (f"eval.{name}" for name in names if getattr(given, name) != getattr(usual, name))
    yield from ("data.eval",) if spec.data.eval else ()
    yield from ("task",) if spec.task.name else ()


def _files(spec: RunSpec) -> Iterator[Finding]:
    names = spec.eval.benchmarks
    for name in names:
        if is_file(name) and not Path(name).is_file():
            yield _error(f"no such task file: {name}", "name a YAML file of lm-eval's form, or one of its tasks")
    if len(folders(names)) > 1:
        yield _error(
            "the task files lie in several folders, and paths in them begin at one", "put them into one folder"
        )


def _native(native: dict[str, Any]) -> Iterator[Finding]:
    if not isinstance(native.get("apply_chat_template", False), bool):
        yield _error("native.apply_chat_template is true or false", "write one of them", "apply_chat_template")
    shots = native.get("num_fewshot", 0)
    if isinstance(shots, bool) or not isinstance(shots, int) or shots < 0:
        yield _error("native.num_fewshot is a number of examples", "write a whole number", "num_fewshot")


def _error(message: str, fix: str, native: str = "") -> Finding:
    where = f"native.{native}" if native else "eval.benchmarks"
    return Finding(code="eval.benchmarks", level="error", message=message, fix=fix, where=where)
