"""What a person sees while a worker works: a live bar on a terminal, plain lines elsewhere, nothing with --json."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

_SHOWN = ("loss", "eval_loss", "reward", "rewards/accuracies", "kl", "score", "learning_rate")
_EVERY = 5.0
"""Seconds between plain lines."""

_QUIET = 10.0
"""Seconds without a line until one says that the work goes on; then twice as long, and so on."""


class Progress(Protocol):
    """Somewhere to show events."""

    def stage(self, title: str) -> Any: ...

    def event(self, event: dict[str, Any]) -> None: ...

    def waiting(self) -> None: ...

    def say(self, text: str) -> None: ...


def shown(metrics: dict[str, Any]) -> str:
    """The few numbers worth a line: `loss 1.234  reward 0.56`."""
    picked = [(k, metrics[k]) for k in _SHOWN if isinstance(metrics.get(k), int | float)]
    picked += [(k, v) for k, v in metrics.items() if k.endswith(".score") and isinstance(v, int | float)]
    return "  ".join(f"{name} {value:.4g}" for name, value in picked[:5])


class Bar:
    """A live bar on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn())
        self._columns = (*columns, TextColumn("{task.fields[numbers]}"), TimeElapsedColumn(), TimeRemainingColumn())

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """Show a bar until the stage ends; its last state stays on the screen."""
        with RichProgress(*self._columns, console=self._console) as self._bar:
            self._title, self._numbers, self._task = (
                title,
                "",
                self._bar.add_task(f"{title}: starting", total=None, numbers=""),
            )
            yield

    def event(self, event: dict[str, Any]) -> None:
        """Move the bar."""
        if event["type"] in ("state", "doing"):
            self._bar.update(self._task, description=f"{self._title}: {event.get('what') or event.get('state')}")
        elif event["type"] == "step":
            self._numbers = shown(event.get("metrics") or {}) or self._numbers
            self._bar.update(
                self._task, completed=event.get("step", 0), total=event.get("total"), numbers=self._numbers
            )
        elif event["type"] == "warning":
            self.say(f"warning: {event.get('message')}")

    def waiting(self) -> None:
        """The bar shows by itself that time passes."""

    def say(self, text: str) -> None:
        """A line above the bar."""
        self._console.print(text, markup=False, highlight=False)


class Lines:
    """Plain lines, a few seconds apart, for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console, self._title, self._last = console, "", 0.0
        self._doing, self._began, self._said, self._patience = "", 0.0, 0.0, _QUIET

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """Remember the stage's name, which begins every line."""
        self._title, self._last, self._doing, self._patience = title, 0.0, "starting", _QUIET
        self._began = self._said = time.monotonic()
        yield

    def event(self, event: dict[str, Any]) -> None:
        """A line for each state and warning, and for a step now and then."""
        if event["type"] in ("state", "doing"):
            self._begin(str(event.get("what") or event.get("state")))
        elif event["type"] == "warning":
            self.say(f"{self._title}: warning: {event.get('message')}")
        elif event["type"] == "step" and self._due(event):
            self._last = time.monotonic()
            numbers = shown(event.get("metrics") or {})
            self.say(f"{self._title}: {event.get('step')}/{event.get('total')}  {numbers}{self._left(event)}")

    def waiting(self) -> None:
        """Called often while nothing else happens: a line now and then, that the work goes on."""
        if time.monotonic() - self._said >= self._patience:
            self._patience *= 2
            self.say(f"{self._title}: {self._doing}, for {time.monotonic() - self._began:.0f} s")

    def say(self, text: str) -> None:
        """Print a line at once."""
        self._said = time.monotonic()
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _begin(self, doing: str) -> None:
        self._doing, self._began, self._patience = doing, time.monotonic(), _QUIET
        self.say(f"{self._title}: {doing}")

    def _due(self, event: dict[str, Any]) -> bool:
        return event.get("step") == event.get("total") or time.monotonic() - self._last >= _EVERY

    def _left(self, event: dict[str, Any]) -> str:
        step, total, spent = event.get("step"), event.get("total"), time.monotonic() - self._began
        if not isinstance(step, int) or not isinstance(total, int) or step < 1:
            return ""
        return f"  {spent:.0f} s, about {spent / step * (total - step):.0f} s left"


class Silent:
    """Nothing at all."""

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """Show nothing."""
        yield

    def event(self, event: dict[str, Any]) -> None:
        """Show nothing."""

    def waiting(self) -> None:
        """Show nothing."""

    def say(self, text: str) -> None:
        """Show nothing."""


def make(quiet: bool) -> Progress:
    """The right kind for where the output goes; everything goes to stderr, so that stdout stays for results."""
    console = Console(stderr=True)
    if quiet:
        return Silent()
    return Bar(console) if console.is_terminal else Lines(console)
