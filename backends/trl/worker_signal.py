"""Eyes on the reward signal during training."""

from __future__ import annotations

from typing import Any, Protocol

from transformers import TrainerCallback

from backends.trainer.callbacks import FINAL
from orchestrator.events import EventWriter

_PATIENCE = 3
"""Logs in a row before a signal that stays bad is reported."""


class Judges(Protocol):
    """Whatever judges completions, and remembers the newest batch: one dict a completion."""

    latest: list[dict[str, Any]]


class Signal(TrainerCallback):  # type: ignore[misc]
    """Shows a completion at each log, and warns when rewards stop telling completions apart."""

    def __init__(self, rewards: Judges, events: EventWriter) -> None:
        self._rewards, self._events = rewards, events
        self._bad = {"frac_reward_zero_std": 0, "completions/clipped_ratio": 0}

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if not logs or FINAL in logs:
            return
        if self._rewards.latest:
            entry = self._rewards.latest[0]
            self._events.emit("sample", step=state.global_step, **{k: _text(v) for k, v in entry.items()})
        self._watch("frac_reward_zero_std", logs.get("frac_reward_zero_std", 0.0) >= 1.0, _FLAT)
        self._watch("completions/clipped_ratio", logs.get("completions/clipped_ratio", 0.0) >= 0.8, _CLIPPED)

    def _watch(self, name: str, bad: bool, warning: tuple[str, str]) -> None:
        self._bad[name] = self._bad[name] + 1 if bad else 0
        if self._bad[name] == _PATIENCE:
            self._events.emit("warning", code=warning[0], message=warning[1])


_FLAT = (
    "reward.flat",
    f"in {_PATIENCE} logs in a row every group had equal rewards: there is nothing to learn from; "
    "use a reward with more steps, easier prompts, or a higher rl.temperature",
)
_CLIPPED = (
    "reward.clipped",
    f"in {_PATIENCE} logs in a row most completions ran into rl.max_completion_length unfinished; raise it",
)


def _text(value: Any) -> Any:
    """A conversation as the text of its last message."""
    if isinstance(value, list) and value and isinstance(value[-1], dict):
        return value[-1].get("content")
    return value
