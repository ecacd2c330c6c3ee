"""What an eval found, read from its report and items files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.errors import StorageError
from orchestrator.store import Run

Interval = tuple[float, float]


class _Read(BaseModel):
    """A piece of a file that another program wrote; keys that this page doesn't use are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Difference(_Read):
    """A model against another one, item by item. `smallest`: what this many items would show; None: nothing."""

    to: str
    score: float
    interval: Interval
    better_items: int
    worse_items: int
    beyond_noise: bool
    test: str
    p: float
    smallest: float | None
    sentence: str


class Gate(_Read):
    """What the eval had to show, and whether it did."""

    gate: str
    score: float
    limit: float
    passed: bool


class Part(_Read):
    """One of the rewards of a task, or a metric of a benchmark."""

    score: float
    interval: Interval
    differences: tuple[Difference, ...] = ()


class Model(_Read):
    """One model's result. Interval: 95 %; `share_cut_at_limit`: answers that ran into the token limit.

    Where a task was played, the score is the weighted mean of its `rewards`. lm-eval tells neither tokens nor cuts.
    """

    label: str
    score: float
    interval: Interval
    interval_kind: str
    mean_generated_tokens: float | None = None
    share_cut_at_limit: float | None = None
    differences: tuple[Difference, ...] = ()
    rewards: dict[str, Part] = {}
    benchmarks: dict[str, Part] = {}

    @property
    def parts(self) -> dict[str, Part]:
        """What else was measured on the same items."""
        return self.rewards or self.benchmarks


class Evaluation(_Read):
    """A whole report."""

    metric: str
    items: int
    same_prompts: bool
    data_sha256: str
    models: tuple[Model, ...]
    gates: tuple[Gate, ...] = ()

    @property
    def binary(self) -> bool:
        """Whether an item is right or wrong, and nothing between."""
        return all(model.interval_kind == "wilson" for model in self.models)


class Answer(_Read):
    """One model's answer to one item."""

    answer: str
    score: float


class Item(_Read):
    """One item with every model's answer."""

    item: int
    prompt: Any
    expected: str | None = None
    models: dict[str, Answer]


def read(run: Run) -> Evaluation | None:
    """The report of an eval; None when the run left none.

    Raises:
        StorageError: it is damaged or has another form.
    """
    path = _folder(run) / "report.json"
    if not path.is_file():
        return None
    try:
        return Evaluation.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise StorageError(f"this is no eval report: {_first(error)}", where=str(path)) from None


def items(run: Run) -> Iterator[Item]:
    """The items of an eval, in the file's order; none when it kept none.

    Raises:
        StorageError: a line is damaged.
    """
    path = _folder(run) / "items.jsonl"
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            yield _item(line, f"{path}:{number}")


def _item(line: bytes, where: str) -> Item:
    try:
        return Item.model_validate_json(line)
    except ValidationError as error:
        raise StorageError(f"this is no evaluated item: {_first(error)}", where=where) from None


def _folder(run: Run) -> Path:
    artifact = run.manifest.artifact("report")
    return run.path / (artifact.path if artifact else "artifacts/report")


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'all of it'}: {found['msg']}"
