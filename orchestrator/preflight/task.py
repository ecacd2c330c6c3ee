"""The task of a stage: read, never run, since a plan executes no code of the user's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from orchestrator.backend import Backend
from orchestrator.errors import TaskError
from orchestrator.findings import Finding
from orchestrator.nearest import nearest
from orchestrator.spec import RunSpec
from orchestrator.tasks.loading import Reference, find

METRIC = "task"
"""What `eval.metric` is where a task is played."""


def check(spec: RunSpec, backend: Backend) -> list[Finding]:
    """A task that can't be found or made, or that something else contradicts."""
    if not spec.task.name:
        return list(_unnamed(spec))
    return [*_alone(spec, backend), *_written(spec, spec.task.name)]


def _unnamed(spec: RunSpec) -> Iterator[Finding]:
    if spec.task.options:
        yield _error("unnamed", "options of a task, but no task", "name it with --task", "task.options")
    if spec.stage == "eval" and spec.eval.metric == METRIC and spec.data.eval:
        message = "the metric `task` plays a task, and none is named"
        yield _error("unnamed", message, "name it with --task NAME|FILE.py", "eval.metric")


def _alone(spec: RunSpec, backend: Backend) -> Iterator[Finding]:
    if not backend.capabilities().tasks:
        fix = "choose another backend: post-train backends"
        yield _error("backend", f"backend {backend.name} runs no tasks", fix, "backend")
    if spec.rl.reward:
        message = "both a task and reward functions: a task has rewards of its own"
        yield _error("reward", message, "drop rl.reward, or add a reward to the task", "rl.reward")
    if spec.stage == "eval" and spec.eval.metric != METRIC:
        message = f"both a task and the metric {spec.eval.metric!r}: a task is judged by rewards of its own"
        yield _error("metric", message, "drop eval.metric, or name items with data.eval instead", "eval.metric")
    for setting, path in (("data.train", spec.data.train), ("data.eval", spec.data.eval)):
        if path:
            message = f"both a task and {setting}: a task has samples of its own"
            yield _error("data", message, f"drop {setting}; give a file as --task-option data=FILE", setting)


def _written(spec: RunSpec, name: str) -> Iterator[Finding]:
    try:
        found = find(name)
        tree = ast.parse(found.file.read_text(encoding="utf-8"), str(found.file))
    except TaskError as error:
        yield _error("missing", error.what, error.fix or "correct task.name", "task.name")
        return
    except (OSError, UnicodeError, SyntaxError, ValueError) as error:
        yield _error("unreadable", f"{found.file}: {error}", "correct the file", str(found.file))
        return
    yield from _made(spec, found, tree)


def _made(spec: RunSpec, found: Reference, tree: ast.Module) -> Iterator[Finding]:
    """The function and its parameters, as far as they can be seen: an imported one is looked at when it runs."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    imported = {a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    if found.function not in functions:
        if found.function not in imported:
            message = f"no function is called {found.function!r}{nearest(found.function, functions)}"
            yield _error("function", message, f"write `def {found.function}() -> Task:`", str(found.file))
        return
    function = functions[found.function]
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    where = f"{found.file}:{function.lineno}"
    for option in spec.task.options:
        if option not in names:
            yield _error("option", f"unknown option {option!r}{nearest(option, names)}", "--task-option", where)


def _error(code: str, message: str, fix: str, where: str) -> Finding:
    return Finding(code=f"task.{code}", level="error", message=message, fix=fix, where=where)
