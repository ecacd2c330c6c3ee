"""Items held against what only a worker can look at, because a plan runs no task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from backends.trainer.items import Item
from backends.trainer.playing import loaded, openings
from data_prep.faults import DataFault
from data_prep.overlap import Items
from data_prep.rows import Jsonl
from orchestrator.events import EventWriter
from orchestrator.harness import WorkError
from orchestrator.tasks import Sample
from orchestrator.tasks.loading import find
from orchestrator.tasks.overlap import LOOKED_AT

Leak = tuple[int, str, str]
"""Number of the item, the place in training data, how it was seen."""
_NAMED = 5


def look(events: EventWriter, settings: dict[str, Any], items: Sequence[Item]) -> dict[str, Any]:
    """The settings with every leak that was found, each item once.

    Raises:
        WorkError: there are more than `max_leaked` allows.
    """
    found: dict[int, dict[str, str]] = {}
    held = Items([{"prompt": item.prompt} for item in items])
    for source in settings.get("learned", ()):
        try:
            for number, place, how in _within(source, settings, items, held):
                found.setdefault(number, {"item": items[number].place, "row": place, "how": how})
        except (DataFault, WorkError) as error:
            what = error.what if isinstance(error, DataFault) else error.message
            text = (
                f"what {source['run']} was trained on can't be read, so whether it holds these items is unknown: {what}"
            )
            events.emit("warning", code="eval.leak_unknown", message=text)
    if found:
        _tell(events, [found[number] for number in sorted(found)], len(items), settings["max_leaked"])
    return {**settings, "leaks": [*settings["leaks"], *found.values()]}


def _within(source: dict[str, Any], settings: dict[str, Any], items: Sequence[Item], held: Items) -> Iterator[Leak]:
    if "rows" in source:
        for line, row in Jsonl(Path(source["rows"])):
            yield from ((number, f"{source['rows']}:{line}", how) for number, how in held.within(row))
        return
    task = loaded(source["task"]["name"], source["task"]["options"])
    samples, run = list(islice(task.train, LOOKED_AT)), source["run"]
    yield from _same(samples, items, run)
    if not _same_file(source, settings):
        for sample, opening in zip(samples, openings(task, samples), strict=True):
            row = {"prompt": opening.messages}
            yield from ((number, f"{run}: sample {sample.id}", how) for number, how in held.within(row))


def _same(samples: Sequence[Sample], items: Sequence[Item], run: str) -> Iterator[Leak]:
    """Samples of tasks, by what they hold."""
    contents = {item.columns.get("digest"): number for number, item in enumerate(items)}
    for sample in samples:
        if (number := contents.get(sample.digest)) is not None:
            yield number, f"{run}: sample {sample.id}", "the same sample"


def _same_file(source: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Samples of one task differ in what they hold; what they ask in words may be the same for many."""
    return "task" in settings and find(source["task"]["name"]) == find(settings["task"]["name"])


def _tell(events: EventWriter, found: list[dict[str, str]], items: int, most: float) -> None:
    named = "; ".join(f"{one['item']} in {one['row']} ({one['how']})" for one in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    text = f"{len(found)} of {items} items stand in data that these models were trained on: {named}{more}"
    if len(found) / items > most:
        fix = "take them out of the items, or allow them with --set eval.max_leaked=1"
        raise WorkError("eval.leak", text, fix=fix)
    events.emit("warning", code="eval.leak", message=text)
