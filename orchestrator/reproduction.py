"""A run and the same run again: what came out alike, what did not, and what was different about the circumstances."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchestrator.manifest import Manifest

_CLOCKED = re.compile(r"runtime|per_second|seconds|memory|_time\b")
"""Metrics that tell of the machine and its load, not of the model."""
_TIMED = ("report.json",)
"""Files that hold such numbers."""


@dataclass(frozen=True)
class Comparison:
    """Two runs of one plan.

    Attributes:
        metrics: `name: old -> new` of every number that differs.
        probe: largest difference of a log-probability, nats; None where there is no probe, or tokens differ.
        tokens: whether the probes' conversations were rendered alike.
        files: files of the artifacts that differ, are missing or are new.
        circumstances: what may explain it: engine, packages, hardware.
        compared: how many metrics and files were looked at.
    """

    metrics: tuple[str, ...]
    probe: float | None
    tokens: bool
    files: tuple[str, ...]
    circumstances: tuple[str, ...]
    compared: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether nothing differs, to the bit."""
        return self.tokens and not (self.metrics or self.probe or self.files)

    def lines(self) -> list[str]:
        """For people, one fact a line."""
        numbers, files = self.compared
        distance = "none was left" if self.probe is None else f"{self.probe:.3g} nats apart at most"
        probe = distance if self.tokens else "its conversations were rendered to other tokens"
        return [
            f"metrics    {numbers - len(self.metrics)} of {numbers} the same",
            f"probe      {probe}",
            f"artifacts  {files - len(self.files)} of {files} files the same",
            *(f"  {one}" for one in (*self.metrics, *self.files)),
            *(f"differs    {one}" for one in self.circumstances),
        ]


def compare(first: Manifest, again: Manifest) -> Comparison:
    """Hold the second run against the first."""
    before, after = _numbers(first), _numbers(again)
    kept, made = _files(first), _files(again)
    names = sorted(before | after)
    metrics = [f"{k}: {before.get(k)} -> {after.get(k)}" for k in names if before.get(k) != after.get(k)]
    tokens = _ids(first.probe) == _ids(again.probe)
    files = [path for path in sorted(kept | made) if kept.get(path) != made.get(path)]
    return Comparison(
        metrics=tuple(metrics),
        probe=_apart(first.probe, again.probe) if tokens else None,
        tokens=tokens,
        files=tuple(files),
        circumstances=tuple(_circumstances(first.provenance, again.provenance)),
        compared=(len(names), len(kept | made)),
    )


def _numbers(record: Manifest) -> dict[str, Any]:
    return {name: value for name, value in record.metrics.items() if not _CLOCKED.search(name)}


def _files(record: Manifest) -> dict[str, str]:
    return {f"{a.path}/{f.path}": f.sha256 for a in record.artifacts for f in a.files if f.path not in _TIMED}


def _ids(probe: dict[str, Any] | None) -> list[list[int]] | None:
    return [row["ids"] for row in probe["rows"]] if probe else None


def _apart(one: dict[str, Any] | None, other: dict[str, Any] | None) -> float | None:
    """Largest difference between two probes of the same tokens."""
    if one is None or other is None:
        return None
    numbers = [[p for row in probe["rows"] for p in row["logprobs"]] for probe in (one, other)]
    return max((abs(a - b) for a, b in zip(*numbers, strict=True)), default=0.0)


def _circumstances(one: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    for key in ("post_train", "git", "hardware"):
        if one.get(key) != other.get(key):
            yield f"{key}: {one.get(key)} -> {other.get(key)}"
    packages = [each.get("environment", {}).get("packages") or {} for each in (one, other)]
    for name in sorted(packages[0] | packages[1]):
        before, after = (each.get(name) for each in packages)
        if before != after:
            yield f"package {name}: {before} -> {after}"
