"""Tasks by name or by file: `qa`, `my_task.py`, `my_task.py:NAME`, with options as texts."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from orchestrator.errors import PostTrainError, TaskError
from orchestrator.nearest import nearest
from orchestrator.tasks.overlap import require_apart
from orchestrator.tasks.place import place_of, raised_at
from orchestrator.tasks.task import Task

FUNCTION = "task"
"""What a file's function is called unless the reference names another."""
TEMPLATE = Path(__file__).resolve().parents[2] / "recipes" / "templates" / "qa.py"
_SHIPPED = Path(__file__).resolve().parent / "shipped"
_KINDS: dict[Any, Callable[[str], Any]] = {str: str, int: int, float: float, Path: Path}
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class Reference:
    """Where a task is written: a file, and the function in it that makes the task."""

    file: Path
    function: str


def shipped() -> dict[str, Path]:
    """Name -> file of every task that comes along."""
    files = sorted(path for path in _SHIPPED.glob("*.py") if path.stem != "__init__")
    return {path.stem: path for path in (TEMPLATE, *files)}


def summary(file: Path) -> str:
    """First line of a task file's docstring; the file is read, not run."""
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def find(reference: str) -> Reference:
    """The file behind a reference. Reads nothing.

    Raises:
        TaskError: no shipped task and no file is called so.
    """
    file, mark, function = reference.rpartition(":") if ".py:" in reference else (reference, "", FUNCTION)
    path = shipped().get(file) if not mark else None
    path = path or Path(file).expanduser().absolute()
    if path.suffix != ".py":
        raise TaskError(f"no task is called {reference!r}{nearest(file, shipped())}", fix="post-train tasks list")
    if not path.is_file():
        raise TaskError(f"task file {path} doesn't exist", fix=f"post-train tasks new {file}")
    return Reference(path, function or FUNCTION)


def load(reference: str, options: Mapping[str, str] | None = None) -> Task:
    """Run a task's file and make the task.

    Args:
        reference: shipped name, `file.py` or `file.py:NAME`.
        options: passed to the function by name, each converted to the parameter's type.

    Raises:
        TaskError: anything wrong with the file, its function or the options, with the line.
    """
    found = find(reference)
    function = _function(_module(found.file), found)
    arguments = _arguments(function, dict(options or {}), reference)
    try:
        made = function(**arguments)
    except PostTrainError:
        raise
    except Exception as error:
        where = raised_at(error, str(found.file))
        raise TaskError(f"task {reference} raised {type(error).__name__}: {error}", where=where) from error
    if not isinstance(made, Task):
        what = f"{found.function}() of {reference} returned {type(made).__name__}, not a Task"
        raise TaskError(what, where=place_of(function))
    require_apart(made)
    return made


def _module(file: Path) -> ModuleType:
    """The file as a module. Its folder is searched last, so that it may import what lies beside it."""
    name = f"task_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        where = raised_at(error, str(file))
        raise TaskError(f"importing task {file.name} failed: {type(error).__name__}: {error}", where=where) from error
    return module


def _function(module: ModuleType, found: Reference) -> Callable[..., Any]:
    function = getattr(module, found.function, None)
    if not inspect.isfunction(function):
        names = [n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == module.__name__]
        raise TaskError(
            f"no function is called {found.function!r}{nearest(found.function, names)}",
            where=str(found.file),
            fix=f"write `def {found.function}() -> Task:`, or name another as {found.file.name}:NAME",
        )
    return function


def _arguments(function: Callable[..., Any], options: dict[str, str], reference: str) -> dict[str, Any]:
    parameters = inspect.signature(function, eval_str=True).parameters
    problems = [f"unknown option {name!r}{nearest(name, parameters)}" for name in options if name not in parameters]
    problems += [
        f"option {name!r} is missing"
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in options
    ]
    converted = dict(_converted(parameters, options, problems))
    if problems:
        raise TaskError(
            f"task {reference} can't be made with these options",
            where=place_of(function),
            details=problems,
            fix="--task-option NAME=VALUE",
        )
    return converted


def _converted(
    parameters: Mapping[str, inspect.Parameter], options: dict[str, str], problems: list[str]
) -> Iterator[tuple[str, Any]]:
    for name, text in options.items():
        kind = parameters[name].annotation if name in parameters else str
        try:
            yield name, _value(kind, text)
        except (ValueError, KeyError):
            problems.append(f"option {name!r} takes {getattr(kind, '__name__', kind)}, not {text!r}")


def _value(kind: Any, text: str) -> Any:
    """A text as the type that a parameter is annotated with; `X | None` is read as X."""
    inner = [one for one in getattr(kind, "__args__", ()) if one is not type(None)]
    kind = inner[0] if len(inner) == 1 else kind
    return _WORDS[text.lower()] if kind is bool else _KINDS.get(kind, str)(text)
