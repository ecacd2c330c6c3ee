"""lm-eval, asked about one model at a time: what every item was, and what each metric gave for it."""

from __future__ import annotations

from contextlib import chdir, nullcontext
from dataclasses import dataclass
from typing import Any

import lm_eval
import torch
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from backends.hf.task_files import folders, own, task
from backends.trainer.items import Item
from orchestrator.harness import WorkError

Row = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """What lm-eval tells of one model.

    Attributes:
        samples: benchmark -> its items in order, as lm-eval logs them, those of its first filter.
        measures: benchmark -> `benchmark.metric` -> a number for each item, whose mean is the metric.
        versions: benchmark -> version of its task and number of examples in the prompt.
    """

    samples: dict[str, list[Row]]
    measures: dict[str, dict[str, tuple[float, ...]]]
    versions: dict[str, Row]

    @property
    def items(self) -> list[Item]:
        """Every item of every benchmark."""
        return [_item(name, row) for name, rows in self.samples.items() for row in rows]

    @property
    def requests(self) -> list[tuple[Any, ...]]:
        """Context and continuation, or context and settings of generation."""
        return [one for rows in self.samples.values() for row in rows for one in row["arguments"]]

    @property
    def answers(self) -> tuple[str, ...]:
        """What each item was answered: the text, or the likeliest choice."""
        return tuple(_answer(row) for rows in self.samples.values() for row in rows)


class Nobody(LM):  # type: ignore[misc]
    """Answers nothing, so that the items can be read before a model is loaded."""

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        return [(0.0, False) for _ in requests]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        return [0.0 for _ in requests]

    def generate_until(self, requests: list[Any]) -> list[str]:
        return ["" for _ in requests]


def ask(model: LM, settings: Row, **other: Any) -> Told:
    """Every benchmark, by one model; paths in task files begin at their folder.

    Args:
        other: settings of lm-eval that go before those of the file.

    Raises:
        WorkError: a benchmark that lm-eval doesn't know or can't run.
    """
    places = folders(settings["benchmarks"])
    chosen = {"num_fewshot": settings["num_fewshot"], "apply_chat_template": settings["apply_chat_template"], **other}
    try:
        with chdir(places[0]) if places else nullcontext():
            tasks = [task(name) for name in settings["benchmarks"]]
            manager = TaskManager(include_path=places or None, include_defaults=not own(settings["benchmarks"]))
            told: Any = lm_eval.simple_evaluate(
                model=model, tasks=tasks, task_manager=manager, limit=settings["max_items"], bootstrap_iters=0,
                log_samples=True, **chosen,
            )  # fmt: skip
    except torch.OutOfMemoryError as error:
        text = f"{settings['batch_size']} requests don't fit in memory together"
        raise WorkError("memory.out", text, fix="halve eval.batch_size") from error
    except Exception as error:
        first = " ".join(str(error).split())[:400]
        text = f"lm-eval can't run {', '.join(settings['benchmarks'])}: {type(error).__name__}: {first}"
        fix = "correct the task file, or name one of lm-eval's tasks; its data must be here or on the hub"
        raise WorkError("eval.benchmark", text, fix=fix) from error
    return _told(told)


def _told(told: Row) -> Told:
    rows = {name: sorted(found, key=lambda row: row["doc_id"]) for name, found in sorted(told["samples"].items())}
    versions = {name: {"version": told["versions"][name], "num_fewshot": told["n-shot"][name]} for name in rows}
    return Told(
        {name: [row for row in found if row["filter"] == found[0]["filter"]] for name, found in rows.items()},
        {
            name: _measures(name, found, told["results"][name], told["higher_is_better"][name])
            for name, found in rows.items()
        },
        versions,
    )


def _measures(name: str, rows: list[Row], results: Row, more: Row) -> dict[str, tuple[float, ...]]:
    """Metrics of which more is better and whose value is the mean over the items: others can't be compared in pairs."""
    found = dict[str, tuple[float, ...]]()
    for chosen, metric in dict.fromkeys((row["filter"], metric) for row in rows for metric in row["metrics"]):
        values = [row[metric] for row in rows if row["filter"] == chosen]
        whole = results.get(f"{metric},{chosen}")
        if more.get(metric) and isinstance(whole, int | float) and all(isinstance(v, int | float) for v in values):
            numbers = tuple(map(float, values))
            if abs(sum(numbers) / len(numbers) - whole) < 1e-6:
                found[f"{name}.{metric}" + ("" if chosen == "none" else f".{chosen}")] = numbers
    return found


def _item(name: str, row: Row) -> Item:
    sample = f"{name}/{row['doc_id']}"
    columns = {"digest": row["doc_hash"], "sample": sample}
    return Item(str(row["arguments"][0][0]), str(row["target"]), columns, place=sample)


def _answer(row: Row) -> str:
    given = row["filtered_resps"]
    if len(given) == len(row["arguments"]) and all(isinstance(one, tuple | list) for one in given):
        best = max(range(len(given)), key=lambda n: given[n][0])
        return str(row["arguments"][best][1]).strip()
    return str(given[0])
