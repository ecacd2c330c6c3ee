"""What a run's workers reported step by step: one series a metric, over all attempts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.events import EventReader


@dataclass
class Steps:
    """Metrics over steps.

    Attributes:
        series: metric -> step -> value; only finite numbers.
        resumed: first step of each attempt after the first that reached one.
        damaged: lines of the event files that were no events.
        lost: values that were no finite numbers.
    """

    series: dict[str, dict[int, float]] = field(default_factory=dict)
    resumed: list[int] = field(default_factory=list)
    damaged: int = 0
    lost: int = 0

    @property
    def notes(self) -> list[str]:
        """What somebody who reads the curves must know."""
        lost = f"Values that are no finite numbers and are not drawn: {self.lost}." if self.lost else ""
        damaged = f"Damaged lines of the event files, left out: {self.damaged}." if self.damaged else ""
        return [note for note in (lost, damaged) if note]


def read(run_dir: Path) -> Steps:
    """All attempts in order. An attempt replaces what earlier ones said of its first step and all later ones."""
    steps = Steps()
    for path in sorted(run_dir.glob("attempts/*/events.jsonl")):
        reader = EventReader(path)
        found = [event for event in reader.new() if _is_step(event)]
        steps.damaged += reader.garbage
        if found:
            _cut(steps, min(event["step"] for event in found))
            for event in found:
                _add(steps, event)
    return steps


WATCHED = {
    "reward": "reward",
    "held out": "held_out/score",
    "kl": "kl",
    "tokens": "completions/mean_length",
    "tokens held": "held_out/tokens",
}
"""Heading -> metric: what must not part ways while a reward is optimised."""


def looks(steps: Steps) -> list[tuple[int, list[float | None]]]:
    """Each step with held-out answers, and the watched metrics: the mean of training's own since the look before."""
    at = sorted(steps.series.get("held_out/score", {}))
    before = [-1, *at]
    return [
        (step, [_mean(steps.series.get(metric, {}), before[n], step) for metric in WATCHED.values()])
        for n, step in enumerate(at)
    ]


def _mean(values: dict[int, float], after: int, to: int) -> float | None:
    inside = [value for step, value in values.items() if after < step <= to]
    return sum(inside) / len(inside) if inside else None


def _is_step(event: dict[str, Any]) -> bool:
    step = event.get("step")
    return event["type"] == "step" and type(step) is int and isinstance(event.get("metrics"), dict)


def _cut(steps: Steps, first: int) -> None:
    if steps.series:
        steps.resumed.append(first)
    kept = {name: {s: v for s, v in values.items() if s < first} for name, values in steps.series.items()}
    steps.series = {name: values for name, values in kept.items() if values}


def _add(steps: Steps, event: dict[str, Any]) -> None:
    for name, value in event["metrics"].items():
        if type(value) in (int, float) and math.isfinite(value):
            steps.series.setdefault(name, {})[event["step"]] = float(value)
        else:
            steps.lost += 1
