"""Scores answers with a reward function of the user's, called as GRPO calls it."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from backends.trainer.items import Item
from backends.trainer.written import Metric, Written
from orchestrator.harness import WorkError


def load(reference: str) -> Metric:
    """The metric behind `file.py:function` or `module:function`.

    Raises:
        WorkError: it can't be loaded.
    """
    source, _, name = reference.rpartition(":")
    function = getattr(_module(source), name, None)
    if not callable(function):
        raise WorkError("eval.metric", f"{source} has no function {name!r}", fix="write reward:file.py:function")

    def judge(items: Sequence[Item], found: Sequence[Written]) -> list[float]:
        return _checked(_call(function, reference, _arguments(items, found)), reference, len(items))

    return judge


def _module(source: str) -> ModuleType:
    try:
        return _from_file(Path(source)) if source.endswith(".py") else importlib.import_module(source)
    except (Exception, SystemExit) as error:
        raise _failed(source, error, "can't be loaded") from error


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no Python file at {path}")
    sys.path.append(str(path.parent))  # modules beside it; last, so that it hides nothing
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _arguments(items: Sequence[Item], found: Sequence[Written]) -> dict[str, Any]:
    """The keyword arguments that TRL's GRPO trainer gives: columns as lists, one entry an item."""
    chat = isinstance(items[0].prompt, list)
    names = sorted({name for item in items for name in item.columns})
    return {
        **{name: [item.columns.get(name) for item in items] for name in names},
        "answer": [item.expected for item in items],
        "prompts": [item.prompt for item in items],
        "completions": [[{"role": "assistant", "content": f.text}] if chat else f.text for f in found],
        "completion_ids": [f.ids for f in found],
        "trainer_state": None,
        "log_extra": lambda *_: None,
        "log_metric": lambda *_: None,
    }


def _call(function: Callable[..., Any], reference: str, arguments: dict[str, Any]) -> Any:
    try:
        result = function(**arguments)
        return asyncio.run(_await(result)) if inspect.isawaitable(result) else result
    except (Exception, SystemExit) as error:
        raise _failed(reference, error, "raised") from error


async def _await(result: Any) -> Any:
    return await result


def _checked(rewards: Any, reference: str, wanted: int) -> list[float]:
    """One finite number an item, or a refusal: a reward that is silently replaced would change the score."""
    values = list(rewards) if isinstance(rewards, list | tuple) or hasattr(rewards, "tolist") else None
    if values is None or len(values) != wanted:
        text = (
            f"{reference} returned {type(rewards).__name__ if values is None else len(values)} for {wanted} completions"
        )
        raise WorkError("reward.length", text, fix="return a list with one number for each completion")
    for number, value in enumerate(values):
        if isinstance(value, str) or value is None or not math.isfinite(float(value)):
            text = f"{reference} returned {value!r} for item {number + 1}"
            raise WorkError("reward.value", text, fix="return a finite number for every completion")
    return [float(value) for value in values]


def _failed(reference: str, error: BaseException, how: str) -> WorkError:
    frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return WorkError(
        "reward.failed", f"{reference} {how}{place}: {type(error).__name__}: {error}", fix="mend the reward function"
    )
