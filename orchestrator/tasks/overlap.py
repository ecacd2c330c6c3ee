"""Training and validation must share nothing: what was trained on proves nothing when it is asked again."""

from __future__ import annotations

from itertools import islice

from orchestrator.errors import TaskError
from orchestrator.tasks.sample import Sample
from orchestrator.tasks.task import Task

LOOKED_AT = 20_000
"""Samples of each split that are compared; more would keep every worker waiting at its start."""


def require_apart(task: Task) -> None:
    """Compare ids and contents of both splits.

    Raises:
        TaskError: a sample is in both, or its data is nothing that JSON can write.
    """
    try:
        trained = {key: sample.id for sample in islice(task.train, LOOKED_AT) for key in _keys(sample)}
        held_out = {sample.id: _keys(sample) & trained.keys() for sample in islice(task.validation, LOOKED_AT)}
    except (TypeError, ValueError) as error:
        fix = "hold text, numbers, lists and dictionaries only; make the rest in the environment"
        raise TaskError(f"a sample of task {task.name!r} is not JSON: {error}", fix=fix) from error
    shared = [f"{name} is {trained[min(keys)]} of training" for name, keys in held_out.items() if keys]
    if shared:
        raise TaskError(
            f"{len(shared)} validation samples of task {task.name!r} are training samples too",
            details=shared[:5],
            why="validation would measure what was learned by heart",
            fix="split by content, as orchestrator.tasks.split does",
        )


def _keys(sample: Sample) -> set[str]:
    return {f"id {sample.id}", sample.digest}
