"""Reward functions: loaded by file or module, wrapped so that a wrong answer stops the run by name.

TRL turns None into NaN and goes on with it, and a wrong length or a raised exception ends in a traceback of its own
frames. Here each of them names the function, the completion and the user's line.
"""

from __future__ import annotations

import copy
import functools
import importlib
import importlib.util
import inspect
import math
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from orchestrator.events import EventWriter
from orchestrator.harness import WorkError

SLOW = 60.0
"""Seconds after which a call that still runs is reported."""

Reward = Callable[..., Any]


class Rewards:
    """The reward functions of a run.

    Attributes:
        functions: what the trainer calls.
        latest: the newest batch, one dict a completion; read by the sample events.
    """

    def __init__(self, references: Sequence[str], events: EventWriter) -> None:
        self._events = events
        self.latest: list[dict[str, Any]] = []
        self.functions = [self._wrap(load(reference), reference) for reference in references]

    def _wrap(self, function: Reward, reference: str) -> Reward:
        @functools.wraps(function)
        def call(prompts: list[Any], completions: list[Any], **columns: Any) -> list[float]:
            given = {"prompts": prompts, "completions": completions, **columns}
            result = self._call(function, reference, {name: _own(value) for name, value in given.items()})
            values = judged(result, len(completions), reference)
            self._remember(prompts, completions, values, reference)
            return values

        return call

    def _call(self, function: Reward, reference: str, arguments: dict[str, Any]) -> Any:
        watch = threading.Timer(SLOW, self._report_slow, (reference,))
        watch.daemon = True
        watch.start()
        try:
            return function(**arguments)
        except WorkError:
            raise
        except (Exception, SystemExit) as error:
            raise _raised(error, reference) from error
        finally:
            watch.cancel()

    def _report_slow(self, reference: str) -> None:
        message = f"reward {reference} has been running for {SLOW:.0f} s on one batch"
        self._events.emit("warning", code="reward.slow", message=message)

    def _remember(self, prompts: list[Any], completions: list[Any], values: list[float], reference: str) -> None:
        name = reference.rpartition(":")[2]
        if len(self.latest) != len(values) or name in self.latest[0]["rewards"]:
            self.latest = [
                {"prompt": p, "completion": c, "rewards": {}} for p, c in zip(prompts, completions, strict=True)
            ]
        for entry, value in zip(self.latest, values, strict=True):
            entry["rewards"][name] = value


def _own(value: Any) -> Any:
    """A list of the function's own: what it does to it must reach neither the trainer nor the next function."""
    return copy.deepcopy(value) if isinstance(value, list) else value


def load(reference: str) -> Reward:
    """The function behind `file.py:function` or `module:function`.

    Raises:
        WorkError: no such file, module or function, or its import fails.
    """
    source, _, name = reference.rpartition(":")
    if not source or not name:
        raise WorkError(
            "reward.reference", f"reward {reference!r} is no file.py:function", fix="rl.reward: [./reward.py:score]"
        )
    module = _from_file(Path(source), reference) if source.endswith(".py") else _from_module(source, reference)
    function: Reward | None = getattr(module, name, None)
    if not callable(function):
        found = [n for n, v in vars(module).items() if inspect.isfunction(v) and not n.startswith("_")]
        raise WorkError(
            "reward.function", f"{source} has no function {name!r}; it has {found}", fix="correct rl.reward"
        )
    if inspect.iscoroutinefunction(function):
        raise WorkError(
            "reward.async", f"{reference} is async", fix="make it a plain function, or call asyncio.run inside it"
        )
    return function


def judged(result: Any, completions: int, reference: str) -> list[float]:
    """The rewards as floats, one for each completion.

    Raises:
        WorkError: another length, or a value that is no finite number.
    """
    values = result.tolist() if hasattr(result, "tolist") else result
    if not isinstance(values, list | tuple) or len(values) != completions:
        given = f"{len(values)} values" if isinstance(values, list | tuple) else type(values).__name__
        raise WorkError(
            "reward.length",
            f"reward {reference} returned {given} for {completions} completions",
            fix="return a list with one number per completion",
        )
    for row, value in enumerate(values):
        if isinstance(value, str) or not _finite(value):
            raise WorkError(
                "reward.value",
                f"reward {reference} returned {value!r} for completion {row} of the batch",
                why="one such value spoils the advantage of its whole group",
                fix="return a finite number for every completion, 0.0 when it can't be judged",
            )
    return [float(value) for value in values]


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def _from_file(path: Path, reference: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"reward_{path.stem}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise WorkError("reward.file", f"reward file {path} doesn't exist", fix="correct rl.reward")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.append(str(path.parent))
    return _imported(lambda: _executed(spec, module), reference)


def _executed(spec: Any, module: Any) -> Any:
    spec.loader.exec_module(module)
    return module


def _from_module(name: str, reference: str) -> Any:
    return _imported(lambda: importlib.import_module(name), reference)


def _imported(act: Callable[[], Any], reference: str) -> Any:
    try:
        return act()
    except (Exception, SystemExit) as error:
        raise WorkError(
            "reward.import",
            f"importing reward {reference} failed: {type(error).__name__}: {error}{_line(error, reference)}",
            fix="python -c 'import ...' in the trl environment shows the whole traceback",
        ) from error


def _raised(error: BaseException, reference: str) -> WorkError:
    return WorkError(
        "reward.raised",
        f"reward {reference} raised {type(error).__name__}: {error}{_line(error, reference)}",
        why="a run must not go on with rewards that were not computed",
        fix="handle the case in the reward function; it takes (prompts, completions, **columns)",
    )


def _line(error: BaseException, reference: str) -> str:
    """Where in the user's code it happened: the deepest frame of the reward's own file, else the deepest of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename == reference.rpartition(":")[0]] or [
        f for f in frames if "importlib" not in f.filename and f.filename != __file__
    ]
    if isinstance(error, SyntaxError):
        return f" (at {error.filename}:{error.lineno})"
    return f" (at {own[-1].filename}:{own[-1].lineno})" if own else ""
