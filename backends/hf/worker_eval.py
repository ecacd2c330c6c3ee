"""The eval stage: every model answers the same items, one model in memory at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.hf import report, worker_publish
from backends.hf.worker_contestants import Contestant, Questions, contestants
from backends.hf.worker_generation import taken_up
from backends.hf.worker_leaks import look
from backends.trainer import items as item_files
from backends.trainer import judging
from backends.trainer.generate import Answer
from backends.trainer.items import Item
from backends.trainer.prompts import Reader, digest
from backends.trainer.written import Metric, Written
from orchestrator.harness import Harness, WorkError

_SAMPLES = 3
_MANY = 0.5


@dataclass(frozen=True)
class Contest:
    """What all models share."""

    harness: Harness
    settings: dict[str, Any]
    items: list[Item]
    metric: Metric


def evaluate(harness: Harness, settings: dict[str, Any]) -> None:
    """Do the stage.

    Raises:
        WorkError: items, models or metric that can't be used; all that can be known before generating is found before.
    """
    items = _items(settings)
    contest = Contest(harness, look(harness.events, settings, items), items, judging.load(settings["metric"]))
    asked = Questions(contest.items, settings["chat_template_kwargs"], settings["max_new_tokens"])
    found = contestants(harness, settings, asked)
    partial = worker_publish.begin(Path(settings["output"]))
    harness.events.emit("state", state="evaluating", total=len(contest.items) * len(found))
    results = [_run(contest, one, number * len(contest.items)) for number, one in enumerate(found)]
    rows = report.compare(results, settings["against"])
    report.write(partial, contest.settings, contest.items, results, rows)
    worker_publish.publish(partial, Path(settings["output"]))
    harness.events.emit("result", metrics={f"{row['label']}.score": row["score"] for row in rows})


def _items(settings: dict[str, Any]) -> list[Item]:
    needs_answer = not settings["metric"].startswith(judging.REWARD)
    try:
        return item_files.read(Path(settings["data"]), needs_answer=needs_answer, limit=settings["max_items"])
    except item_files.ItemsError as error:
        raise WorkError("eval.data", error.message, fix=error.fix) from error


def _run(contest: Contest, one: Contestant, done: int) -> report.Result:
    """One model's turn; `done` answers were given by the models before it."""
    began, events, count = time.monotonic(), contest.harness.events, len(contest.items)
    total = count * len(contest.settings["models"])

    def progress(answered: int) -> None:
        events.emit("step", step=done + answered, total=total, metrics={})

    found = _answers(contest, one, progress)
    written = [_written(one.reader, answer) for answer in found]
    scores = contest.metric(contest.items, written)
    events.emit("step", step=done + count, total=total, metrics={f"{one.label}.score": sum(scores) / count})
    _show(contest, one, written, done + count)
    _warn_of_cuts(contest, one, found)
    return report.Result(
        label=one.label,
        scores=tuple(scores),
        answers=tuple(w.answer for w in written),
        generated=tuple(a.generated for a in found),
        ended=tuple(a.ended for a in found),
        seconds=time.monotonic() - began,
        prompts_digest=digest(one.prompts),
    )


def _answers(contest: Contest, one: Contestant, progress: Callable[[int], None]) -> list[Answer]:
    new = contest.settings["max_new_tokens"]
    room = max(map(len, one.prompts)) + new
    with taken_up(one, contest.settings, contest.harness.events, room) as generate:
        return generate(one.prompts, new=new, progress=progress)


def _written(reader: Reader, answer: Answer) -> Written:
    ids = list(answer.ids)
    return Written(reader.text(ids), reader.text(reader.proper(ids)), ids)


def _show(contest: Contest, one: Contestant, written: list[Written], step: int) -> None:
    for item, found in list(zip(contest.items, written, strict=True))[:_SAMPLES]:
        texts = {"prompt": item.prompt, "expected": item.expected, "answer": found.answer}
        contest.harness.events.emit("sample", step=step, model=one.label, **texts)


def _warn_of_cuts(contest: Contest, one: Contestant, found: list[Answer]) -> None:
    cut = sum(not answer.ended for answer in found) / len(found)
    if cut > _MANY:
        text = f"{one.label}: {cut:.0%} of the answers were cut at the token limit; raise eval.max_new_tokens"
        contest.harness.events.emit("warning", code="eval.cut", message=text)
